/**
 * Words of which servers make their error messages, in lower case, and of which names of the API consist. A message is kept no
 * further than they go, so nothing belongs here that only a prompt would say.
 */
export const MESSAGE_WORDS: ReadonlySet<string> = new Set(
  `
  a about above accept accepted accepts access across additional adjust after again against all allowed allows also alternate
  alternating always an and another any api are argument arguments array arrays as assistant at audio auto available base64 batch be
  because been before beginning begins below between bias bigger block blocks body bool boolean both budget but by bytes cache call
  called calls can cannot category character characters chat check choice choices code combined comes completion completions
  constraint contain contained contains content contents context conversation conversations correct correctly could couldn count
  current currently data decimal decode decoder decoding decrease default defined definition deprecated description detail details
  developer dict dictionary did didn different dimension dimensions disable disabled do documentation does doesn don draft due
  duplicate each effort either element elements embedding embeddings empty enable enabled encode encoding end ends engine enough
  ensure entries entry enum equal error errors every exactly exceed exceeded exceeding exceeds exist exists expected expression extra
  fail failed fails false feature features field fields file files filter filtered finish first fit float follow followed following
  follows for forbidden form format formats formatted found frequency from full function functions generate generated generation get
  given got grammar greater greedy guided had has have high higher history how however id ids if image images immediately in include
  included includes including incorrect increase increasing index input inputs instead instruction instructions int integer integers
  into invalid is isn it item items its json keep key keys kind large larger last latest least left length less level limit limited
  limits list load loaded logit logprobs long longer low lower make malformed management match matches matching max maximum may media
  message messages method mime min minimum missing modality mode model models modify more most much multimodal multiple must n name
  named names need needed needs negative new no non none not null number numbers numeric object objects of off on one only openai
  optional options or order other out output outputs over overflow overflows p parallel param parameter parameters params parse parsed
  parser parsing part parts passed pattern penalty per permitted pixels please policy positive possible prefill prefix presence
  present previous problem process processed prompt prompts properties property provide provided range raw reached reasoning received
  reduce refer refused remove repetition request requested requests require required requires responding response responses result
  results retry return returned role roles sampling schema schemas see seed send sent sequence sequences server serving set setting
  shift short shorter should single size small smaller some specified specify start starting starts stop store stream streaming strict
  string strings structured such sum supplied support supported supports sure system temperature template text than that the their
  them then there these they thinking this those to token tokenized tokenizer tokens too tool tools top total triggering true try
  trying turn turns two type types unable under unexpected unknown unrecognized unsupported until up url urls usage use used user uses
  using valid validate validated validation value values verbosity version video was we were what when where which while will window
  with within without word would wrong you your zero
`
    .trim()
    .split(/\s+/),
);
