import { systemClock } from '../../src/lib/clock.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import { post } from '../proxy/support.js';
import { FORMS } from './forms.js';

describe('the simulator', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ clock: systemClock, models: [] });
  });
  afterAll(() => simulator.close());

  const chat = (content: string) =>
    post(`${simulator.url}/chat/completions`, 'any', { model: 'm', messages: [{ role: 'user', content }] });
  const embed = (input: string) =>
    post(`${simulator.url}/embeddings`, 'any', { model: 'nomic-embed-text', input });

  test.each(FORMS.map((form) => [form.name, form] as const))('plays %s byte for byte', async (name, form) => {
    const { head, body, end, ask } = form;
    const response = await (ask?.input === undefined ? chat : embed)(`[[sim form=${name}]] hello`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(head.type);
    expect(response.headers.get('transfer-encoding')).toBe(head.framing === 'close' ? null : 'chunked');
    expect(response.headers.get('content-length')).toBeNull();
    const chunks: Uint8Array[] = [];
    const read = async () => {
      for await (const chunk of response.body!) chunks.push(chunk);
    };
    if (end === 'cut') await expect(read()).rejects.toThrow();
    else await read();
    expect(Buffer.concat(chunks).toString()).toBe(body.join(''));
  });

  test.each(['nothing-of-the-kind', '../forms/whole', 'WHOLE', ''])(
    'refuses a form that does not exist: %s',
    async (name) => {
      for (const call of [chat, embed]) {
        const response = await call(`[[sim form=${name}]]`);
        expect(response.status).toBe(400);
        expect(await response.text()).toMatch(/test\/wire\/forms/);
      }
    },
  );
});
