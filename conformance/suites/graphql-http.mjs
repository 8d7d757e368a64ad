import { serverAudits } from 'graphql-http';

const OPTIONAL = 'the specification leaves it to the server (MAY)';

export async function run(checks, { url }) {
  const audits = serverAudits({ url: `${url}/graphql` });
  if (audits.length < 60) throw new Error(`there are ${audits.length} audits only`);
  for (const audit of audits) {
    const result = await audit.fn();
    const isOk = result.status === 'ok';
    await checks.check(
      audit.name,
      async () => {
        if (!isOk) throw new Error(result.reason);
      },
      !isOk && audit.name.startsWith('MAY ') ? { exempt: OPTIONAL } : {},
    );
  }
}
