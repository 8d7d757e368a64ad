/** How many messages a session or an address may send. */
export interface Allowance {
  perDay: number;
  perMinute: number;
}

/** The limits of one visitor of a widget: by session, and by address over all sessions. */
export interface VisitorLimits {
  session: Allowance;
  address: Allowance;
}

/** This edge's counts of a widget's messages. */
export interface MessageCount {
  readonly accountId: string;
  readonly widgetId: string;
  /** Messages in flight or being decided, and those answered on this UTC day that aren't committed yet. */
  open(day: string): number;
  /** Messages answered, in flight or being decided since this process began. */
  given(): number;
  /** Messages committed on this UTC day, as far as this edge knows. */
  committed(day: string): number;
}

/** A request to admit one more message of a widget. */
export interface MessageQuestion {
  /** `x-request-id`. */
  id: string;
  perDay: number;
  perMinute: number;
  /** The names under which the visitor's session and address are counted; undefined if visitors aren't limited. */
  visitor: { names: readonly [session: string, address: string]; limits: VisitorLimits } | undefined;
  /** Reads the committed count from the database. */
  readAgain(): Promise<void>;
  /** Called when the message is refused, before `take` resolves. */
  onRefused(): void;
}

/** Whether the message is admitted, or which limit is reached: of a minute (with the time to wait) or a day, of widget or visitor. */
export interface MessageVerdict {
  kind: 'ok' | 'minute' | 'day' | 'visitor_minute' | 'visitor';
  waitMs: number;
}

/** Messages of widgets and of their visitors, counted over all edges. */
export interface SharedMessages {
  /** Takes a place in the widget's day, and one of the visitor. */
  take(count: MessageCount, question: MessageQuestion): Promise<MessageVerdict>;
  /** Fewer messages are open than before. The visitor of `returned` gets back its place. */
  changed(count: MessageCount, returned?: MessageQuestion): void;
}
