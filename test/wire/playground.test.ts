import { ask, FAST } from '../playground/support.js';
import { signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { isOfChat, isStream } from './doors.js';
import { expectedAt, FORMS, played } from './forms.js';

/** Runs are free, so a run's own figures stand for the charge. */
describe('what nodes send to the playground', () => {
  let node: ScriptedUpstream;
  beforeAll(async () => {
    node = await startScriptedUpstream();
  });
  afterAll(() => node.close());
  const suite = usePlatform(() => ({
    env: { UPSTREAM_URL: node.url },
    virtualKeys: { generate: async () => 'sk-virtual-of-the-tests', remove: async () => undefined },
  }));

  const forms = FORMS.filter((form) => isStream(form) && isOfChat(form));
  test.each(forms.map((form) => [form.name, form] as const))('%s', async (_name, form) => {
    const { token } = await signUp(suite.url);
    node.answer(played(form));
    const { body } = await ask(suite.url, token, [FAST], 'Hi');
    const { text = null, finish = null, error = null } = expectedAt('playground', form);
    expect(body.runs[0]).toMatchObject({
      status: error === null ? 'success' : 'error',
      response_content: text,
      error_code: error,
      ...(error === null && { finish_reason: finish }),
      output_tokens: form.charged === 'nothing' ? 0 : form.charged.output,
    });
  });
});
