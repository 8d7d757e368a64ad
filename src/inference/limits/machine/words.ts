import type { MessageVerdict, VisitorLimits } from '../shared-messages.js';

/** How many messages of a widget the database has of a UTC day. */
interface WidgetDay {
  widgetId: string;
  day: string;
  committed: number;
}

export interface MessageWords extends WidgetDay {
  kind: 'message';
  question: number;
  accountId: string;
  perDay: number;
  perMinute: number;
  visitor: { names: readonly [string, string]; limits: VisitorLimits } | null;
  /** Whether `committed` has just been read. */
  isRead: boolean;
}

/** Fewer messages of a widget are open than before, or the place of a visitor is free again. */
export interface MessagesChangedWords extends WidgetDay {
  kind: 'messages';
  more: number;
  returned: { names: readonly string[]; at: number } | null;
}

/** Introduces a payer before the edge's first question about it. */
export interface PayerWords {
  kind: 'payer';
  ref: number;
  accountId: string;
  balance: string;
  seq: string;
  credentialId: string;
  /** The name of its own window of a minute, where it has one. */
  rate: string | null;
}

/** Messages of edges that aren't sent with each call. */
export type EdgeWords =
  | { kind: 'edge'; id: string; version: number }
  /** All of its calls are over, and it admits nothing from now on. */
  | { kind: 'stops' }
  | PayerWords
  | { kind: 'forget'; ref: number }
  /** These edges are dead, and what they had recorded is in the spool of this one. Said again until it is committed. */
  | { kind: 'found'; ids: readonly string[] }
  /** These edges are dead, and what they had recorded is committed. */
  | { kind: 'replaced'; ids: readonly string[] }
  | MessageWords
  | MessagesChangedWords
  /** Strangers of these networks were refused, and so much counts of it. */
  | { kind: 'refused'; networks: readonly string[]; units: number };

export interface VerdictWords {
  kind: 'verdict';
  question: number;
  verdict: MessageVerdict['kind'] | 'read';
  waitMs: number;
  /** When the visitor's place was taken. */
  at: number;
}

/** Messages of the counting process that aren't answers to calls. */
export type CounterWords =
  | { kind: 'state'; version: number; mayAdmit: boolean; isRegained: boolean; edges: number }
  | VerdictWords
  /** These networks have had their share of a minute. */
  | { kind: 'spent'; minute: number; networks: readonly string[] };
