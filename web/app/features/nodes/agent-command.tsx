import { CodeBlock } from '../../ui/code-block';
import { Moment } from '../../ui/moment';
import { Note } from '../../ui/note';
import { Section } from '../../ui/section';
import type { LiveNode } from './live-nodes';
import { isStale } from './node-state.rules';
import classes from './nodes.module.css';
import { useNodeTime } from './use-node-time';

const SECRET_FILE = '/etc/gateway-agent.secret';

interface AgentCommandProps {
  node: LiveNode;
  staleAfterSeconds: number;
  publicBaseUrl: string;
  acceptsHeartbeats: boolean;
}

/** The command that starts the agent on a node, and whether its heartbeat has come. */
export function AgentCommand(props: AgentCommandProps) {
  const { node, staleAfterSeconds, publicBaseUrl, acceptsHeartbeats } = props;
  const command = [
    `curl -fsSO ${publicBaseUrl}/gateway-agent.mjs`,
    'node gateway-agent.mjs \\',
    `  --url ${publicBaseUrl} \\`,
    `  --node ${node.id} \\`,
    `  --secret-file ${SECRET_FILE}`,
  ].join('\n');
  return (
    <div className={classes.stack}>
      {acceptsHeartbeats ? (
        <Heard node={node} staleAfterSeconds={staleAfterSeconds} />
      ) : (
        <Note tone="warn">
          Heartbeats are rejected with 503: set <code>GPU_HEARTBEAT_SECRET</code> and restart the gateway.
        </Note>
      )}
      <p className={classes.hint}>
        The agent sends a heartbeat every 60 seconds. On the node, write the value of{' '}
        <code>GPU_HEARTBEAT_SECRET</code> into <code>{SECRET_FILE}</code>, then run this with Node.js 18.17,
        20.3 or newer:
      </p>
      <div data-wide>
        <CodeBlock label="Command line of the agent" code={command} what="command" />
      </div>
      <p className={classes.hint}>
        If the node’s server doesn’t listen on <code>http://127.0.0.1:8000</code>, add{' '}
        <code>--serves http://127.0.0.1:PORT</code>. To keep the agent running, make it a service:
      </p>
      <div data-wide>
        <Section title="As a systemd service">
          <CodeBlock label="systemd unit" code={unitOf(publicBaseUrl, node.id)} what="unit" />
          <p className={classes.hint}>
            Put the agent into <code>/opt</code> and this into{' '}
            <code>/etc/systemd/system/gateway-agent.service</code>, then run{' '}
            <code>systemctl enable --now gateway-agent</code>.
          </p>
        </Section>
      </div>
    </div>
  );
}

function Heard({ node, staleAfterSeconds }: Pick<AgentCommandProps, 'node' | 'staleAfterSeconds'>) {
  const isSilent = useNodeTime((now) => isStale(node, now, staleAfterSeconds));
  if (node.heardAtMs === null) {
    return <Note tone="plain">Waiting for the first heartbeat. It appears here as it arrives.</Note>;
  }
  if (!isSilent) return <Note tone="good">Heartbeats arrive.</Note>;
  return (
    // No heartbeat is expected of a machine that is switched off.
    <Note tone={node.status === 'OFFLINE' ? 'plain' : 'warn'}>
      No heartbeat since <Moment at={new Date(node.heardAtMs).toISOString()} />.
    </Note>
  );
}

const unitOf = (url: string, id: string): string => `[Unit]
Description=Heartbeats to the inference gateway
Wants=network-online.target
After=network-online.target

[Service]
LoadCredential=secret:${SECRET_FILE}
ExecStart=/usr/bin/node /opt/gateway-agent.mjs \\
  --url ${url} \\
  --node ${id} \\
  --secret-file \${CREDENTIALS_DIRECTORY}/secret
Restart=always
RestartSec=5
DynamicUser=yes

[Install]
WantedBy=multi-user.target`;
