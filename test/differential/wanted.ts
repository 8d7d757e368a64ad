/** An intended difference: where it occurs, and the sentence that asks for it. */
export interface Wanted {
  requests: RegExp;
  part: RegExp;
  /** Pattern of the baseline's value, which is empty if absent; by default, any. */
  baseline?: RegExp;
  /** Pattern of the new value; by default, any. */
  now?: RegExp;
  /** Both values are equal once this is left out of them. */
  without?: RegExp;
  /** Pattern of the nodes' responses; by default, any. */
  script?: RegExp;
  /** Further differences of the same request that follow from this one, besides the length of the body. */
  brings?: RegExp;
  sentence: string;
}

/** Differences that follow when a call succeeds instead of failing, or the other way round. */
const OUTCOME =
  /^(?:status|header (?:content-type|transfer-encoding|x-accel-buffering|x-should-retry)|usage\..*|ledger\..*|node [12] .*)$/;
const FAILED = /"(?:error_)?code":"upstream_error"/;

/** All wanted differences between the baseline and this checkout. One that no longer occurs also fails the run. */
export const WANTED: readonly Wanted[] = [
  {
    requests: /./,
    part: /^node \d body$/,
    now: /"max_(?:completion_)?tokens":\d.*"max_(?:completion_)?tokens":\d/s,
    brings: /^node \d (?:body|headers)$/,
    sentence: 'Requirement N1: a node gets the bound on its output under both names',
  },
  {
    requests: /^stream-/,
    part: /^body$/,
    baseline: /"code":"upstream_error"\}\}\n\n$/,
    now: /data: \[DONE\]\n\n$/,
    brings: /^(?:usage|ledger)\./,
    sentence: 'Requirement N2: a stream whose choices have finished and whose body ended properly is whole',
  },
  {
    requests: /^(?:widget|responses|playground|several)-/,
    part: /^body$/,
    now: /"(?:part|No\.|one|a part|shown(?:No\.)?)"|: thinking/,
    sentence:
      'Requirements N4 and N8: text parts are joined and refusals shown wherever we show or translate; widgets hide thinking',
  },
  {
    requests: /^(?:embeddings|bodies-drawn)-/,
    part: /^body$/,
    now: FAILED,
    brings: OUTCOME,
    sentence:
      'Requirements N5, N7 and N11: a vector of finite numbers for each input, by its index; else 502, free',
  },
  {
    requests: /^(?:embeddings|bodies-drawn|(?:embedding-)?failures)-/,
    part: /^node 1 call$/,
    baseline: /^$/,
    brings: /^node [12] /,
    sentence: 'The same, and answers without choices: such a call is tried again at another node',
  },
  {
    requests: /^(?:embedding-)?failures-/,
    part: /^body$/,
    baseline: /"code":"upstream_error"|"choices":\[\]/,
    now: /"object":"(?:list|chat\.completion)"/,
    brings: OUTCOME,
    sentence: 'The same, where the other node answers',
  },
  {
    requests: /^stream-/,
    part: /^body$/,
    baseline: /data: \{(?!.*"(?:choices":\[|error":)).*\}\n/,
    without: /(?<=^|\n)(?::|data: \{(?!.*"(?:choices":\[\{|error":)).*\}|data: \[DONE\])\n\n/g,
    sentence: 'Requirement N6: an event without choices is a usage chunk or a comment',
  },
  {
    requests: /^stream-/,
    part: /^body$/,
    script: /event: error\n/,
    now: /\n:\n\ndata: \{"error":/,
    sentence: 'The same of the event that reports an error',
  },
  {
    requests: /./,
    part: /^body$/,
    script: /"choices":\s*\[\s*\]/,
    now: FAILED,
    brings: OUTCOME,
    sentence: 'Requirement N7: an answer without choices is 502 and free',
  },
  {
    requests: /^stream-/,
    part: /^body$/,
    baseline: /^data: \[DONE\]\n\n$/,
    now: FAILED,
    brings: OUTCOME,
    sentence: 'The same of a stream that is only [DONE]',
  },
  {
    requests: /^(?:responses|widget|playground|several)-/,
    part: /^body$/,
    script: /^(?!.*"choices":).*data: \[DONE\]/s,
    now: FAILED,
    brings: OUTCOME,
    sentence: 'The same at the other doors',
  },
  {
    requests: /./,
    part: /^body$/,
    script: /"finish_reason":\s*"error"/,
    now: FAILED,
    brings: OUTCOME,
    sentence: 'Requirement N11: a choice that finished with "error" is an error, and free',
  },
  {
    requests: /./,
    part: /^usage\.anomalous$/,
    now: /^true$/,
    script: /"(?:prompt|completion)_tokens":\s*0/,
    sentence: 'Requirement N12: text with an explicit usage of zero is free and flagged',
  },
  {
    requests: /^embeddings-/,
    part: /^header x-gateway-dropped-fields$/,
    baseline: /^input_type, truncate$/,
    brings: /^(?:node \d (?:body|headers)|usage\.(?:cost|input_tokens)|ledger\.amount)$/,
    sentence: 'Requirement N10: input_type and truncate reach the node',
  },
  {
    requests: /^(?:embedding-)?failures-/,
    part: /^body$/,
    now: /"code":"(?:context_length_exceeded|string_above_max_length)"/,
    sentence: "Requirement N9: documented codes of a node's refusals pass",
  },
  {
    requests: /^(?:(?:embedding-)?failures|stream-(?:forms|drawn))-/,
    part: /^body$/,
    now: /"error":\{"message":"[^"]*(?:\\"[^"]*)*","type":"invalid_request_error","param":(?:null|"[\w.-]+"),"code":"invalid_request"\}\}/,
    sentence: "A node's message and parameter pass; only the operator's addresses and keys are masked",
  },
  {
    requests: /^open-/,
    part: /^body$/,
    now: /Set the base URL to|is not supported\. (?:Send the prompt|Responses are not|Anthropic's API)/,
    brings: /^status$/,
    sentence:
      'Requirements C1 and C8: the 404 names the right base URL, or the way around a door that is closed',
  },
  {
    requests: /^bodies-/,
    part: /^body$/,
    now: /begins with a byte order mark|is in UTF-(?:16|32)|is not valid UTF-8\. Encode it/,
    sentence: 'Requirement C2: a body in another encoding is refused with the name of the fault',
  },
  {
    requests: /^(?:bodies|embeddings)-/,
    part: /^body$/,
    now: /"message":"\\"input\\" must not be empty\./,
    brings: OUTCOME,
    sentence:
      'Requirement N7: no input at all, as servers and OpenAI refuse it, before anything else of the call',
  },
  {
    requests: /^bodies-/,
    part: /^body$/,
    now: /^\{"error":\{"message":"The body is not a valid JSON object: [a-z ]+\.","type":"invalid_request_error","param":null,"code":"invalid_body"\}\}$/,
    sentence: 'JSON is read once instead of twice; the two readings named different faults of the same text',
  },
  {
    requests: /^bodies-drawn-11\/0$/,
    part: /^body$/,
    now: /not \\"f\?nction\\"/,
    sentence: 'The same reading; it shows a character outside of ASCII as one question mark instead of two',
  },
  {
    requests: /^playground-\d+$/,
    part: /^runs$/,
    sentence: 'Requirements N4, N7 and N8: the same in the rows of playground runs',
  },
  {
    requests: /^widget-near-zero-/,
    part: /./,
    sentence: "A widget stops with 503 widget_owner_insufficient_balance when its owner's balance reaches 0",
  },
];
