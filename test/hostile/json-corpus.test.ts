import { dumpTables } from '../support/dump.js';
import { documentedOperations } from './fuzz/operations.js';
import { Random } from './fuzz/random.js';
import { type Schema, sample } from './fuzz/values.js';
import { useHostileSuite } from './suite.js';

/** Requirement T24: JSON that means something else to whoever reads it next, by type. */
const ANOTHER_TYPE: [string, string][][] = [
  [['null', 'null']],
  [
    ['a number', '1'],
    ['a negative zero', '-0'],
  ],
  [['a number beyond all', '1e400']],
  [['a text', '"x"']],
  [['a number as text', '"10"']],
  [['a truth', 'true']],
  [
    ['an array', '[]'],
    ['an array with the right thing in it', '["aaaaaaaa@example.com"]'],
  ],
  [
    ['an object', '{}'],
    ['an object that has a length', '{"length":10}'],
    ['an object that turns into a text', '{"toString":"x","valueOf":"x"}'],
    ['a query of another database', '{"$gt":""}'],
  ],
];
const TYPES = ANOTHER_TYPE.flat();
/** One of each type: neighbouring fields get different ones, so that each is tried many times. */
const typesFor = (field: number): [string, string][] => ANOTHER_TYPE.map((of) => of[field % of.length]!);

/** Put beside the fields of an object. */
const POLLUTION: [string, string][] = [
  ['__proto__', '"__proto__":{"role":"admin","polluted":true}'],
  ['__proto__, escaped', '"\\u005f_proto__":{"role":"admin","polluted":true}'],
  ['__proto__ as a value', '"__proto__":null'],
  ['constructor.prototype', '"constructor":{"prototype":{"role":"admin","polluted":true}}'],
  ['constructor', '"constructor":{"name":"x"}'],
  ['prototype', '"prototype":{"polluted":true}'],
  ['toString', '"toString":"x"'],
  ['hasOwnProperty', '"hasOwnProperty":1'],
  ['role', '"role":"admin"'],
  ['balance', '"balance":"1000000"'],
  ['user_id', '"user_id":"01900000-0000-7000-8000-000000000000"'],
];

/** The prototypes that everything inherits from, as they are. */
const prototypes = () =>
  [Object, Array, String, Number, Boolean, Function, Map, Set, Promise, RegExp, Error].map(({ prototype }) =>
    Reflect.ownKeys(prototype).map((key) => [key, Reflect.getOwnPropertyDescriptor(prototype, key)]),
  );

/** Whether a value of this JSON type may stand there. */
function takes(schema: Schema, json: string): boolean {
  const options = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (options) return options.some((option) => takes(option, json));
  const value: unknown = JSON.parse(json);
  if (schema.enum) return schema.enum.includes(value);
  if (schema.const !== undefined) return schema.const === value;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (schema.type === undefined) return true;
  const types = [schema.type].flat();
  return types.includes(type) || (types.includes('integer') && type === 'number');
}

interface Field {
  /** As `details` name it. */
  path: string;
  schema: Schema;
}

const fieldsOf = (schema: Schema, prefix = ''): Field[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    { path: prefix + name, schema: inner },
    ...fieldsOf(inner, `${prefix}${name}.`),
  ]);

/** The object as text, with `text` as the value at `path`, or beside what is there. */
function textWith(value: Record<string, unknown>, path: string, text: string): string {
  const [name = '', ...rest] = path.split('.');
  const members = Object.entries(value).filter(([other]) => other !== name);
  const inner =
    rest.length > 0 ? textWith(value[name] as Record<string, unknown>, rest.join('.'), text) : text;
  return `{${[...members.map(([other, kept]) => `${JSON.stringify(other)}:${JSON.stringify(kept)}`), `${JSON.stringify(name)}:${inner}`].join()}}`;
}

/**
 * Internal routes have a secret of their own and tests of their own. A chat with a widget looks for its widget before it checks
 * the rest, and its body isn't read again: the upstream request is built from scratch.
 */
const writers = documentedOperations().filter(
  ({ body, path }) => body?.properties && /^\/api\/(?!internal\/|widget\/)/.test(path),
);

describe('JSON that means something else to whoever reads it next', () => {
  const suite = useHostileSuite({ own: true });
  let before: unknown;
  let rows: Map<string, string[]>;
  beforeAll(async () => {
    before = prototypes();
    rows = await dumpTables(suite.db.pool);
  });

  /** Sessions that ended and log-ins that failed are noted, and no other row is another. */
  const unchanged = async () => {
    const now = await dumpTables(suite.db.pool);
    expect(rows.get('public.accounts')!.length).toBeGreaterThan(0);
    for (const [name, before] of rows)
      if (!/ended_sessions|login_failures/.test(name)) expect([name, now.get(name)]).toEqual([name, before]);
  };

  async function ask(method: string, path: string, body: string) {
    const token = path.startsWith('/api/admin') ? suite.admin : suite.user;
    const response = await fetch(
      suite.edge.url + path.replace(/\{\w+\}/g, '01900000-0000-7000-8000-000000000000'),
      {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
      },
    );
    const { error } = (await response.json()) as { error: { code: string; details?: { field: string }[] } };
    return {
      status: response.status,
      code: error.code,
      fields: error.details?.map(({ field }) => field) ?? [],
    };
  }

  describe.each(writers.map((writer) => [`${writer.method} ${writer.path}`, writer] as const))(
    '%s',
    (_name, { method, path, body: schema }) => {
      const whole = sample(new Random(1), { ...schema!, required: Object.keys(schema!.properties!) });
      const value = whole as Record<string, unknown>;
      const fields = fieldsOf(schema!);

      test('refuses each field of another type, and names it', async () => {
        for (const [i, { path: field, schema: own }] of fields.entries()) {
          for (const [what, json] of typesFor(i)) {
            if (json !== '1e400' && takes(own, json)) continue;
            const answer = await ask(method, path, textWith(value, field, json));
            expect([field, what, answer.status, answer.fields]).toEqual([
              field,
              what,
              422,
              expect.arrayContaining([
                expect.stringMatching(new RegExp(`^${field.replaceAll('.', '\\.')}(?:\\.|$)`)),
              ]),
            ]);
          }
        }
      });

      test('refuses each field that occurs twice, however it is written', async () => {
        for (const { path: field } of fields) {
          const last = field.split('.').at(-1)!;
          const escaped = `\\u${last.charCodeAt(0).toString(16).padStart(4, '0')}${last.slice(1)}`;
          for (const again of [last, escaped]) {
            const original = JSON.stringify(value);
            const text = original.replace(`"${last}":`, `"${again}":null,"${last}":`);
            expect(text).not.toBe(original);
            const answer = await ask(method, path, text);
            expect([field, again, answer.status, answer.code]).toEqual([field, again, 400, 'invalid_body']);
          }
        }
      });

      test.each(POLLUTION)('refuses %s beside its fields', async (name, member) => {
        if (Object.hasOwn(schema!.properties!, name)) return;
        const objects = [
          '',
          ...fields.filter((field) => field.schema.properties).map((field) => `${field.path}.`),
        ];
        for (const prefix of objects) {
          const text = prefix === '' ? `{${member},${JSON.stringify(value).slice(1)}` : undefined;
          const inner =
            text ??
            JSON.stringify(value).replace(
              `"${prefix.slice(0, -1).split('.').at(-1)}":{`,
              (start) => `${start}${member},`,
            );
          const { status } = await ask(method, path, inner);
          expect([prefix, [400, 422].includes(status)]).toEqual([prefix, true]);
        }
        expect(prototypes()).toEqual(before);
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      });
    },
  );

  test('has changed no row', unchanged);

  describe('POST /v1/chat/completions', () => {
    const call = async (body: string) => {
      const response = await fetch(`${suite.edge.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${suite.caller.key}` },
        body,
      });
      const answer = (await response.json()) as { error?: { code: string; param: string | null } };
      return [response.status, answer.error?.code, answer.error?.param];
    };
    const BASE = '"messages":[]';
    const READ: [string, RegExp][] = [
      ['model', /^"(?!").*"$/],
      ['stream', /^(?:true|null)$/],
      ['stream_options', /^(?:null|\{.*\})$/],
      ['n', /^(?:null|1)$/],
      ['best_of', /^(?:null|1)$/],
      ['max_tokens', /^(?:null|1)$/],
      ['max_completion_tokens', /^(?:null|1)$/],
    ];
    // Beyond 64 KiB bodies are read in another way.
    const paddings = ['', ' '.repeat(70_000)];

    test.each(READ)('refuses %s of another type', async (field, fine) => {
      const forwarded = suite.upstream.seen.length;
      for (const padding of paddings) {
        for (const [what, json] of TYPES.filter(([, text]) => !fine.test(text))) {
          const model = field === 'model' ? '' : '"model":"gateway/fast",';
          const [status, code, param] = await call(`{${padding}${model}${BASE},"${field}":${json}}`);
          expect([what, status, code, param]).toEqual([what, 400, 'invalid_body', field]);
        }
      }
      expect(suite.upstream.seen).toHaveLength(forwarded);
    });

    test.each(READ)('refuses %s twice, however it is written', async (field) => {
      const forwarded = suite.upstream.seen.length;
      const escaped = `\\u${field.charCodeAt(0).toString(16).padStart(4, '0')}${field.slice(1)}`;
      for (const padding of paddings) {
        for (const again of [field, escaped]) {
          const model = field === 'model' ? '' : '"model":"gateway/fast",';
          const [status, code] = await call(`{${padding}${model}"${again}":null,${BASE},"${field}":null}`);
          expect([again, status, code]).toEqual([again, 400, 'invalid_body']);
        }
      }
      expect(suite.upstream.seen).toHaveLength(forwarded);
    });

    test.each(POLLUTION)('takes nothing from %s', async (_name, member) => {
      const forwarded = suite.upstream.seen.length;
      for (const padding of paddings) {
        const inherited = '"__proto__":{"model":"gateway/fast","stream":true,"max_tokens":1}';
        expect(await call(`{${padding}${member},${inherited},${BASE}}`)).toEqual([
          400,
          'invalid_body',
          'model',
        ]);
      }
      expect(suite.upstream.seen).toHaveLength(forwarded);
      for (const padding of paddings) {
        expect((await call(`{${padding}"model":"gateway/fast",${member},${BASE}}`))[0]).toBe(200);
      }
      expect(prototypes()).toEqual(before);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    });
  });
});
