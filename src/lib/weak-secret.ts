/** Words of secrets that people make up instead of generating them. */
const WORDS = new Set(
  `a abc access account admin an and api app are at auth authentication authorization aws bar base be bearer bits
  bytes cafe change changed changeme characters chars client code cookie dead beef db default demo dev develop
  developer development do docker dummy encrypt encrypted encryption env example fake fix fixme foo for from
  gateway generate generated gpu has hash heartbeat hello here hex hmac hook hooks i id in inference insecure is it
  its jwt key keys keyboard cat least letmein litellm local localhost long longer master me min minimum must my new
  no not now number of on only or our pass password passphrase passwd payload phrase placeholder platform please
  postgres private prod production project proxy public put qwerty qwertyuiop asdf asdfghjkl zxcvbnm random real
  redis replace replaced root safe salt sample sauce secret secrets secure security server service session set
  should sign signature signing simple sk some staging static store string strong super sure temp temporary test
  testing tests that the this to todo token tokens top unsafe update upstream use used user value very webhook
  webhooks which with word world xyz you your`.split(/\s+/),
);
const LONGEST_WORD = 14;
/** A run of this many characters that count up, count down or repeat isn't random. */
const RUN = 4;
/** A secret below these can be guessed. Random secrets of 32 characters have about twice as many. */
const MIN_VARIETY = 8;
const MIN_REST = 16;
/** Longest block whose repetition is detected. */
const LONGEST_BLOCK = 16;

/**
 * Whether a secret can be guessed: it consists of well-known words, counting or repeating characters, and too little else. A random
 * secret that happens to begin with such a word isn't weak.
 */
export function isWeakSecret(secret: string): boolean {
  if (new Set(secret).size < MIN_VARIETY || isPeriodic(secret)) return true;
  const rest = withoutRuns(secret.toLowerCase())
    .replace(/[a-z]+/g, (part) => (consistsOfWords(part) ? '' : part))
    .replace(/[^\p{L}\p{N}]/gu, '');
  return rest.length < MIN_REST;
}

/** Whether a text repeats one short block. */
function isPeriodic(text: string): boolean {
  const longest = Math.min(LONGEST_BLOCK, Math.floor(text.length / 2));
  for (let length = 1; length <= longest; length++) {
    if (text.slice(length) === text.slice(0, -length)) return true;
  }
  return false;
}

/** Removes runs such as `abcdef`, `98765` and `zzzz`. */
function withoutRuns(text: string): string {
  let kept = '';
  for (let start = 0; start < text.length; ) {
    const end = runEnd(text, start);
    if (end - start < RUN) kept += text[start++];
    else start = end;
  }
  return kept;
}

/** End of the run that starts at `start`, which has at least one character. */
function runEnd(text: string, start: number): number {
  const step = text.charCodeAt(start + 1) - text.charCodeAt(start);
  if (![-1, 0, 1].includes(step)) return start + 1;
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) - text.charCodeAt(end - 1) === step) end++;
  return end;
}

/** Whether letters split into known words completely, as in `supersecretkey`. */
function consistsOfWords(letters: string): boolean {
  const reachable = [true];
  for (let end = 1; end <= letters.length; end++) {
    for (let start = Math.max(0, end - LONGEST_WORD); start < end && !reachable[end]; start++) {
      reachable[end] = reachable[start] === true && WORDS.has(letters.slice(start, end));
    }
  }
  return reachable[letters.length] === true;
}
