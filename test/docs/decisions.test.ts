import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = 'docs/decisions';
const FIELDS = ['date', 'status', 'superseded_by', 'area'];
const slugOf = (heading: string): string => heading.toLowerCase().replaceAll(' ', '-');

interface DecisionRecord {
  number: string;
  file: string;
  fields: Record<string, string>;
  title: string | undefined;
  text: string;
}

function readRecord(file: string): DecisionRecord {
  const content = readFileSync(`${FOLDER}/${file}`, 'utf8');
  const [, head = '', text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(content) ?? [];
  const fields = Object.fromEntries(
    head.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const number = file.slice(0, file.indexOf('-'));
  return { number, file, fields, title: /^# (.+)$/m.exec(text)?.[1], text };
}

const records = readdirSync(FOLDER)
  .filter((file) => file !== 'README.md')
  .map(readRecord);

interface Entry {
  section: string;
  area: string;
  number: string;
  file: string;
  text: string;
}

/** The lines of the index, with the headings above each. */
function readIndex(): Entry[] {
  const entries: Entry[] = [];
  let section = '';
  let area = '';
  for (const line of readFileSync(`${FOLDER}/README.md`, 'utf8').split('\n')) {
    const [, level, heading] = /^(##|###) (.+)$/.exec(line) ?? [];
    if (level === '##') section = heading!;
    if (heading) area = slugOf(heading);
    const [, number, file, text] = /^- \[(\w+)\]\(([\w.-]+)\) (.+)$/.exec(line) ?? [];
    if (number) entries.push({ section, area, number, file: file!, text: text! });
  }
  return entries;
}

const index = readIndex();
const former = (entry: Entry): boolean => entry.section === 'Superseded or folded';
const areas = new Set(index.map(({ area }) => area));

describe('a decision record', () => {
  test.each(records)('$file has a date, a status and an area of the index', ({ fields }) => {
    expect(Object.keys(fields).filter((name) => !FIELDS.includes(name))).toEqual([]);
    expect(fields.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(fields.status).toMatch(/^(accepted|superseded|folded)$/);
    expect([...areas]).toContain(fields.area);
  });

  test.each(records)('$file has a title with its number and a sentence', ({ number, title }) => {
    expect(title).toMatch(new RegExp(`^${number}: \\S+ .+[^.]$`));
  });

  test('that is superseded names and links a later record that exists', () => {
    const faulty = records.filter(({ number, fields, text }) => {
      const later = records.find((one) => one.number === fields.superseded_by);
      if (fields.status !== 'superseded') return fields.superseded_by !== undefined;
      return (
        !later || later.number <= number || !text.includes(`Superseded by [${later.number}](${later.file})`)
      );
    });
    expect(faulty.map(({ file }) => file)).toEqual([]);
  });
});

describe('the index of decisions', () => {
  test('lists each record once, with its title, under its area', () => {
    expect(index.map(({ file }) => file).toSorted()).toEqual(records.map(({ file }) => file).toSorted());
    const faulty = index.filter(({ number, file, area, text }) => {
      const record = records.find((one) => one.file === file)!;
      return record.fields.area !== area || !`${number}: ${text}`.startsWith(record.title!);
    });
    expect(faulty).toEqual([]);
  });

  test('keeps the accepted records apart from the others', () => {
    const accepted = records.filter(({ fields }) => fields.status === 'accepted').map(({ file }) => file);
    const listed = index.filter((entry) => !former(entry)).map(({ file }) => file);
    expect(listed.toSorted()).toEqual(accepted.toSorted());
  });
});
