/**
 * The passwords that stuffing tries first, by what they are made of: a word and a usual tail, a walk over the keyboard,
 * a date, something repeated; and a list of the rest. Shorter ones than 8 characters never come here, and longer ones
 * than this aren't common, whatever they are made of.
 */
const LONGEST = 18;

/** What people take for a password, or put a number behind. */
const WORDS = new Set(
  `password passwort passwords motdepasse contraseña contrasena senha parola haslo qwerty qwertz azerty asdfgh zxcvbn zxcvbnm qazwsx
  iloveyou loveyou ilovegod iloveme lovelove loveme lovely lover forever babygirl babyboy beautiful princess sweetheart
  sunshine summer winter spring autumn january february august october november december monday friday sunday
  monkey dragon tiger tigger eagle falcon phoenix panther butterfly elephant dolphin turtle kitten puppy
  letmein welcome changeme whatever trustno nothing access login master admin administrator root system default computer
  internet windows samsung google facebook linkedin dropbox myspace minecraft fortnite roblox pokemon nintendo playstation
  superman superstar batman spiderman starwars matrix blink metallica slipknot nirvana rockstar eminem
  football baseball basketball soccer hockey tennis golfer fishing hunter hunting ranger yankees cowboys steelers lakers
  liverpool chelsea arsenal barcelona realmadrid juventus manchester corvette mercedes mustang ferrari porsche yamaha
  chocolate cookie cheese coffee banana orange purple yellow silver golden diamond ginger pepper peanut
  flower angel heaven jesus christ jesuschrist christian blessed midnight shadow killer maverick mercury apollo thunder
  freedom america london paris berlin canada mexico brasil
  michael jordan michelle jennifer jessica charlie ashley daniel andrew joshua thomas robert matthew anthony george
  william williams richard charles alexander alexandra alexandr elizabeth isabella gabriela gabriel fernando francisco
  danielle patricia benjamin jonathan nicholas stephanie samantha victoria veronica vanessa amanda melissa rebecca
  natasha nicole sophie martin maggie buster bailey jackson taylor austin dakota christine cristina sebastian santiago
  hello hellohello helloworld goodbye lovers friend friends family mother bubbles pretty princesa estrella
  fuckyou fuckme asshole bitch pussy bullshit gateway openai chatgpt inference`.split(/\s+/),
);

/** Up to two digits, a common sequence or a year, perhaps after a sign. */
const TAIL =
  /^[!@#$._-]?(?:\d{1,2}|00[07]|1[01][01]|12[13]|123?4|321|12345|123456|1234567|12345678|123123|([5-9])\1\1|(?:19[4-9]|20[0-3])\d)$/;

/** Signs before something else. A sign after a word and its tail makes a password of its own, unless a list has it. */
const SIGNS = /[!@#$._-]+(?=[^!@#$._-])/g;
const ASCII = /^[ -~]+$/;
const DATE = /^(?:(?:19[4-9]|20[0-3])\d[01]\d[0-3]\d|[0-3]\d[01]\d(?:19[4-9]|20[0-3])\d)$/;

/** Letters that others stand for. */
const PLAIN: Readonly<Record<string, string>> = {
  '@': 'a',
  $: 's',
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
};

/** Rows and columns of keyboards, counting and the alphabet; each is walked in both directions. */
const WALKS = [
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'abcdefghijklmnopqrstuvwxyz',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'qazwsxedcrfvtgb',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '13579',
  '02468',
].flatMap((walk) => [walk, [...walk].reverse().join('')]);
const SHORTEST_STEP = 3;

/** Not covered by the patterns above. */
const OTHERS = new Set(
  `12345678910 78945612 123456789a 123456789q a123456789 a1234567 a12345678 q123456789 q1234567 aa123456
  aa12345678 123456aa zxcvbnm, zxcvbnm. mnbvcxz1 pass1234 pass12345 passpass test1234 test12345 testtest testing1
  testing123 user1234 guest123 guest1234 secret12 secret123 temp1234 temporary 102030405060 10203040 31415926 314159265 100000000 147258369 147852369 159753456
  741852963 963852741 789456123 789654123 11223344 1122334455 112233445566 12qwaszx qawsedrf 1qazxsw2 zaq12wsx zaq1zaq1
  zaq12wsxcde3 abc12345 abc123abc trustno1 blink182 jordan23 access14 p@ssw0rd pa$$word letmein1 ncc1701d ncc1701e rush2112
  thx1138thx bond007bond agent007 admin@123 welcome@123 password@123 pass@123 india@123 qwerty@123 !qaz2wsx 1q2w3e4r! 1qaz@wsx !qaz@wsx 1qaz!qaz
  poohbear hellokitty sexybitch sexygirl bigdaddy playboy1 scoobydoo snowball rainbow1 newyork1 newyorker startrek darkside
  password! password1! iloveyou! letmein! welcome1! fuckyou! redskins redsox04 patriots packers1 dolphins broncos1 giants01 gators01 longhorn wildcats bulldogs bulldog1 cardinal
  airborne marines1 military sergeant redwings blackcat blackdog bluebird bluemoon blueeyes greenday pinkfloyd ironman1
  aerosmith scarface godfather gangster hardcore skateboard snowboard swimming dancing1 cheerleader volleyball softball
  gymnastics alejandra alejandro valentina guadalupe margarita fernanda estrellita teamomucho teamo123 tequiero mylove123
  nastya123 marina123 andrey123 sergey123 natalia1 svetlana ekaterina aleksandr vladimir stanislav sunflower strawberry
  blueberry cinnamon pineapple watermelon marshmallow jellybean brownie1 cupcake1 snickers snoopy12 mickeymouse donald12
  precious treasure gorgeous handsome cutiepie babydoll babyface lollipop twilight vampire1 wolfgang excalibur gandalf1
  stargate voyager1 enterprise klingon1 skywalker darthvader anakin12 labrador rottweiler`.split(/\s+/),
);

/** Whether a password is one of the most common ones, compared without case. */
export function isCommonPassword(password: string): boolean {
  if (password.length > LONGEST) return false;
  const text = password.toLowerCase();
  // "abcd@1234" is "abcd1234".
  const plain = [text, text.replace(SIGNS, '')];
  if (plain.some((one) => OTHERS.has(one) || isWalk(one)) || DATE.test(text)) return true;
  return isWordWithTail(text) || isRepeated(text);
}

/** Every way to cut a tail off is tried: in "password1" the 1 is one, in "p4ssw0rd" the 0 is a letter. */
function isWordWithTail(text: string): boolean {
  for (let end = text.length; end > 0; end--) {
    if (end < text.length && !TAIL.test(text.slice(end))) continue;
    const word = text.slice(0, end);
    if (WORDS.has(word) || WORDS.has(word.replace(/[@$01345]/g, (sign) => PLAIN[sign]!))) return true;
  }
  return false;
}

/** One to four characters over and over, or a word twice. Signs beyond ASCII are nobody's first guess. */
function isRepeated(text: string): boolean {
  if (!ASCII.test(text)) return false;
  for (let length = 1; length <= 4; length++) {
    if (text.slice(0, length).repeat(text.length).startsWith(text)) return true;
  }
  const half = text.slice(0, text.length / 2);
  return text === half + half && WORDS.has(half);
}

/** Pieces of walks and nothing else. */
function isWalk(text: string): boolean {
  /** Whether pieces end there. */
  const reached = [true];
  for (let end = SHORTEST_STEP; end <= text.length; end++) {
    for (let at = 0; at <= end - SHORTEST_STEP && !reached[end]; at++) {
      reached[end] = reached[at] === true && WALKS.some((walk) => walk.includes(text.slice(at, end)));
    }
  }
  return reached[text.length] === true;
}
