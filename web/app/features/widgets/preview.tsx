import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { allowsSite } from '../../../../src/services/widgets/domains.rules';
import { Calls } from '../../../widget/calls';
import type { Look, ToFrame, ToLoader } from '../../../widget/protocol';
import { Choice } from '../../ui/choice';
import { Note } from '../../ui/note';
import type { WidgetDraft } from './widget-draft';
import classes from './widgets.module.css';

const SIZES = [
  { value: 'desktop', label: 'Desktop' },
  { value: 'phone', label: 'Phone' },
] as const;
const EXAMPLE = 'This is a **preview**. Create the widget, and the model answers here.';

interface PreviewProps {
  draft: WidgetDraft;
  /** The key of an existing widget, with which the model answers as for a visitor. */
  publicKey?: string;
}

/** The chat as visitors see it, in the same frame. */
export function Preview({ draft, publicKey }: PreviewProps) {
  const [size, setSize] = useState<(typeof SIZES)[number]['value']>('desktop');
  const frame = useRef<HTMLIFrameElement>(null);
  const port = useRef<MessagePort>(undefined);
  const look: Look = { greeting: draft.greeting, placeholder: draft.placeholder, primary: draft.primary };
  const latest = useRef(look);
  latest.current = look;
  const tell = useCallback((message: ToFrame) => port.current?.postMessage(message), []);
  const calls = useMemo(
    () => (publicKey === undefined ? undefined : new Calls('', publicKey, tell, () => undefined)),
    [publicKey, tell],
  );
  const asked = useRef(calls);
  asked.current = calls;
  const begin = (): void => {
    const channel = new MessageChannel();
    port.current = channel.port1;
    channel.port1.onmessage = ({ data }: MessageEvent<ToLoader>) => {
      if (data.type === 'stop') asked.current?.stop(data.id);
      if (data.type !== 'ask') return;
      if (asked.current) void asked.current.ask(data.id, data.question);
      else showExample(data.id, tell);
    };
    const first: ToFrame = { v: 1, type: 'init', look: latest.current, saved: { turns: [] } };
    frame.current?.contentWindow?.postMessage(first, '*', [channel.port2]);
  };
  const { greeting, placeholder, primary } = look;
  useEffect(() => {
    tell({ v: 1, type: 'look', look: { greeting, placeholder, primary } });
  }, [greeting, placeholder, primary, tell]);
  return (
    <section className={classes.preview} aria-label="Preview">
      <Choice label="Size of the preview" options={SIZES} value={size} onChange={setSize} />
      <iframe
        ref={frame}
        title="Preview of the chat"
        src="/widget/frame/preview"
        sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"
        data-size={size}
        onLoad={begin}
      />
      {publicKey !== undefined && (
        <Note tone="plain">
          Messages are answered with the saved settings, and counted and charged like those of visitors.
          {!allowsSite(draft.domains.split('\n').filter(Boolean), location.hostname) &&
            ` To chat here, allow ${location.hostname} as a domain.`}
        </Note>
      )}
    </section>
  );
}

function showExample(id: number, tell: (message: ToFrame) => void): void {
  const chunk = JSON.stringify({ choices: [{ delta: { content: EXAMPLE } }] });
  tell({ v: 1, type: 'chunk', id, text: `data: ${chunk}\n\ndata: [DONE]\n\n` });
  tell({ v: 1, type: 'done', id });
}
