import { isCommonPassword } from '../../src/services/accounts/common-passwords.js';
import { KNOWN_PASSWORDS } from '../../src/services/accounts/known-passwords.data.js';
import { isKnownPassword } from '../../src/services/accounts/known-passwords.js';
import { threadTimeMs } from '../support/thread-time.js';

/** RELIABILITY.md T7: 3,000 at least. */
const TAILS =
  ` 1 2 7 01 07 10 11 12 13 21 22 23 69 77 88 99 007 123 321 666 1234 12345 1985 1987 1990 1995 1999 2000 2010 2012 2020 2024 2025 2026`.split(
    ' ',
  );
const WORDS =
  `password passwort qwerty azerty iloveyou princess sunshine monkey dragon letmein welcome admin master football baseball
  basketball soccer hockey superman batman michael jordan michelle jennifer jessica charlie ashley daniel andrew joshua
  thomas robert matthew anthony george william richard charles alexander elizabeth gabriel benjamin jonathan nicholas
  stephanie samantha victoria veronica vanessa amanda melissa rebecca nicole sophie martin maggie buster bailey jackson
  taylor austin dakota christine hello hunter ranger killer shadow summer winter spring autumn computer internet samsung
  google facebook pokemon starwars liverpool chelsea arsenal barcelona mercedes mustang ferrari chocolate cookie cheese
  orange purple yellow flower angel freedom america london`.split(/\s+/);

/** Lists of leaks have these among the first. */
const KNOWN = `
password password1 password12 password123 password1234 password12345 password123456 password! password1!
passw0rd p@ssword p@ssw0rd p@ssword1 p@ssword123 pa$$word pa$$w0rd passwort passwort1
passwort123 motdepasse contraseña senha123 parola123 haslo123 12345678 123456789 1234567890 12345678910
0123456789 01234567 87654321 987654321 9876543210 11111111 111111111 1111111111 00000000 000000000
0000000000 22222222 33333333 44444444 55555555 66666666 77777777 88888888 888888888 99999999 999999999
12341234 123123123 12121212 11223344 1122334455 112233445566 123454321 12344321 123321123 147258369
147852369 159753456 741852963 789456123 789654123 963852741 102030405060 10203040 13131313 21212121
23232323 31415926 314159265 20202020 25252525 69696969 78945612 98765432 100000000 123456789a 123456789q
123456789qwe a123456789 a1234567 a12345678 q123456789 q1234567 aa123456 aa12345678 123456abc 12345abc
123456aa 1234abcd 12345qwert 123456qwerty 123qweasd 123qwe123 123qweasdzxc 123abc123 123456789abc
abc12345 abc123456 abcd1234 abcd12345 abc123abc abcdefgh abcdefghi abcdefghij abcdef123 abcd123456
aaaaaaaa aaaaaaaaa aaaaaaaaaa xxxxxxxx zzzzzzzz qwertyui qwertyuio qwertyuiop qwerty12 qwerty123
qwerty1234 qwerty12345 qwerty123456 qwertyqwerty qwer1234 qwe123qwe qweasdzxc qweasd123
qwe12345 qwert123 qwert12345 qazwsxedc qazwsx123 qazwsx12 1qaz2wsx 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y
1qazxsw2 1qaz2wsx3edc zaq12wsx zaq1zaq1 q1w2e3r4 q1w2e3r4t5 asdfghjk asdfghjkl asdf1234 asdfasdf
asdqwe123 asd12345 zxcvbnm1 zxcvbnm123 zxcvbnm, zxcvbnm. 1234qwer 12qwaszx !qaz2wsx qawsedrf azertyui
azertyuiop azerty123 poiuytrewq lkjhgfdsa mnbvcxz1 iloveyou iloveyou1 iloveyou2 iloveyou! ilovegod
loveyou1 lovelove sunshine sunshine1 princess princess1 football football1 baseball baseball1 basketball
superman superman1 superstar batman123 spiderman starwars starwars1 pokemon1 pokemon123 minecraft
minecraft1 dragon123 monkey123 monkey12 michael1 jennifer jennifer1 jordan23 michelle jessica1 charlie1
whatever whatever1 trustno1 welcome1 welcome12 welcome123 welcome1! letmein1 letmein123 letmein!
changeme changeme1 changeme123 computer computer1 internet internet1 samsung1 samsung123 liverpool
liverpool1 chelsea1 arsenal1 barcelona realmadrid juventus corvette mercedes maverick midnight butterfly
chocolate chocolate1 blink182 metallica slipknot nirvana1 rockstar1 elephant victoria veronica alexander
alexandra christian christine elizabeth isabella gabriela fernando francisco danielle patricia benjamin
jonathan nicholas stephanie samantha anthony1 williams mustang1 hello123 hello1234 hellohello helloworld
test1234 test12345 testtest testing1 testing123 admin123 admin1234 admin12345 administrator admin@123
root1234 rootroot user1234 guest123 guest1234 default1 master123 secret123 secret12 access14 system123
login123 google123 facebook facebook1 linkedin dropbox1 myspace1 temp1234 temporary summer2024
summer2025 winter2024 winter2025 spring2025 autumn2025 august123 babygirl babygirl1 beautiful angel123
lovely12 qwerty11 purple12 orange12 cheese12 cookie12 cookie123 soccer12 hockey12 tigger12 fuckyou1
fuckyou! asshole1 bitch123 pussy123 killer123 shadow12 shadow123 hunter12 hunter123 ranger12 thomas12
matrix123 phoenix1 mercury1 gateway1 gateway123 openai123 chatgpt123 inference
`;

/** What people and password managers make, and what tests of callers may use. */
const FINE = [
  'correct horse battery staple', 'an admin of the tests', 'kJ8#mQ2$vL', 'x7Gz!pQ9', 'tr0ub4dor&3', 'a1b2c3d4-e5f6',
  'hunter2-hunter2', 'my dog is 7', 'Sup3r-Secret-1', 'test-password-123', 'S3cure!Pass', 'Str0ngPassw0rd!', 'ValidPass123!',
  'TestPassword123!', 'SuperSecret123!', 'Password123!', 'Passw0rd!', 'Test1234!', 'Secret123!', 'Welcome2024!', 'a'.repeat(19), 'a'.repeat(128), 'password'.repeat(16), 'пароль-пароль', '密码密码密码密码一二三四',
]; // biome-ignore format: a table

describe('common passwords', () => {
  test('are refused: words with what people put behind them, in any case', () => {
    const made = new Set(
      WORDS.flatMap((word) => TAILS.map((tail) => word + tail)).filter(({ length }) => length >= 8),
    );
    expect(made.size).toBeGreaterThanOrEqual(3_000);
    expect([...made].filter((password) => !isCommonPassword(password))).toEqual([]);
    expect([...made].filter((password) => !isCommonPassword(password.toUpperCase()))).toEqual([]);
  });

  test('are refused: those that leaks have first', () => {
    const known = KNOWN.split(/\s+/).filter(Boolean);
    expect(known.length).toBeGreaterThan(330);
    expect(known.filter((password) => !isCommonPassword(password))).toEqual([]);
  });

  test('are refused by the server: the 3,000 of a public list, in any case and with a tail', () => {
    const long = KNOWN_PASSWORDS.filter(({ length }) => length >= 8);
    expect(long).toHaveLength(3_000);
    expect(long.slice(0, 3)).toEqual(['password', '12345678', '123456789']);
    expect(long.filter((password) => !isKnownPassword(password.toUpperCase()))).toEqual([]);
    // What a browser knows by itself is less.
    expect(long.filter((password) => !isCommonPassword(password)).length).toBeGreaterThan(1_000);
  });

  test.each([
    ['signs in between', 'Password1! Qwerty123 Admin@123 Welcome#2024 Monkey_1 Abcd@1234 1qaz@WSX'],
    ['letters that others stand for', 'P4$$w0rd1 dr4g0n123 l3tm31n1 b4seball7'],
    ['walks over the keyboard', 'qwertyuiop poiuytrewq qweasdzxc 1q2w3e4r5t 1qaz2wsx3edc zxcvasdf 98765432'],
    ['dates', '19870512 05121987 31122024'],
    ['something repeated', 'zzzzzzzz ababababab abcabcabc 12341234 dragondragon 69696969'],
  ])('are refused: %s', (_what, list) => {
    expect(list.split(' ').filter((password) => !isCommonPassword(password))).toEqual([]);
  });

  test('are not what anybody thinks up', () => {
    expect(FINE.filter(isKnownPassword)).toEqual([]);
    // One in millions of random ones may be a walk or a date.
    const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
    let state = 1;
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return alphabet[state % alphabet.length]!;
    };
    const refused = Array.from({ length: 20_000 }, () => Array.from({ length: 10 }, random).join('')).filter(
      isKnownPassword,
    );
    expect(refused).toEqual([]);
  });

  test('are told at once, however a password is made', () => {
    const started = threadTimeMs();
    for (let i = 0; i < 1_000; i++) isKnownPassword('abcabcdefabcabcdeX');
    expect(threadTimeMs() - started).toBeLessThan(1_000);
  });
});
