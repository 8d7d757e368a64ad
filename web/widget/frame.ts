import { AnswerStream } from './answer-stream';
import { Conversation } from './conversation';
import type { Look, Saved, ToFrame, ToLoader } from './protocol';
import { View } from './view';

let port: MessagePort | undefined;
let conversation: Conversation | undefined;

const tell = (message: ToLoader): void => port?.postMessage(message);

const view = new View({
  send: (text) => conversation?.say(text),
  retry: () => conversation?.retry(),
  clear: () => conversation?.clear(),
  close: () => tell({ v: 1, type: 'close' }),
});

function begin(look: Look, saved: Saved): void {
  view.look(look);
  conversation = new Conversation({ view, tell, makeStream: () => new AnswerStream() }, saved);
  view.ready();
  tell({ v: 1, type: 'ready' });
}

function hear({ data }: MessageEvent<ToFrame>): void {
  if (data?.v !== 1) return;
  if (data.type === 'look') view.look(data.look);
  else if (data.type === 'open') view.opened(data.focus);
  else if (data.type === 'say') conversation?.say(data.text);
  else if (data.type === 'chunk') conversation?.chunk(data.id, data.text);
  else if (data.type === 'done') conversation?.done(data.id);
  else if (data.type === 'error') conversation?.failed(data.id, data.trouble);
}

// The first message of the embedding page brings the port for all others.
window.addEventListener('message', ({ data, source, ports }: MessageEvent<ToFrame>) => {
  const isFirst = !port && source === window.parent && data?.v === 1 && data.type === 'init';
  if (!isFirst || !ports[0]) return;
  port = ports[0];
  port.onmessage = hear;
  begin(data.look, data.saved);
});
