/** Messages between loader and frame, version 1. */

/** A message of the conversation; for the assistant, with the code that came with it. */
export interface Turn {
  role: 'user' | 'assistant';
  content: string;
  mac?: string;
}

/** Kept across pages, in the session storage of the site. */
export interface Saved {
  session?: string;
  turns: Turn[];
  /** Why the last question has no answer, if another try can't help. */
  end?: Trouble;
}

/** How the chat looks: the part of `GET /api/widget/{key}/config` that the frame uses. */
export interface Look {
  greeting: string;
  placeholder: string;
  primary: string;
  /** Whether the page is written from right to left. */
  rtl?: boolean;
}

/** A chat request of the frame, without the key. */
export interface Question {
  messages: Turn[];
  session_id?: string;
  offset: number;
}

/** Why there is no answer. Without a code the gateway could not be reached, or may not be read from this site. */
export interface Trouble {
  code?: string;
  /** Seconds until it is worth another try. */
  retryAfter?: number;
}

/** From the loader to the frame. */
export type ToFrame =
  | { v: 1; type: 'init'; look: Look; saved: Saved }
  | { v: 1; type: 'look'; look: Look }
  | { v: 1; type: 'open'; focus: boolean }
  | { v: 1; type: 'say'; text: string }
  | { v: 1; type: 'chunk'; id: number; text: string }
  | { v: 1; type: 'done'; id: number }
  | { v: 1; type: 'error'; id: number; trouble: Trouble };

/** From the frame to the loader. */
export type ToLoader =
  | { v: 1; type: 'ready' }
  | { v: 1; type: 'close' }
  | { v: 1; type: 'ask'; id: number; question: Question }
  | { v: 1; type: 'stop'; id: number }
  | { v: 1; type: 'save'; saved: Saved }
  | { v: 1; type: 'answered'; text: string };
