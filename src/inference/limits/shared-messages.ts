/** How many messages a session or an address may have. */
export interface Allowance {
  perDay: number;
  perMinute: number;
}

/** What one visitor may take of a widget: by session, and by address over all its sessions. */
export interface VisitorLimits {
  session: Allowance;
  address: Allowance;
}

/** Messages of a widget as this edge counts them. */
export interface MessageCount {
  readonly accountId: string;
  readonly widgetId: string;
  /** In flight, asked for, or answered on a UTC day and not yet committed. */
  open(day: string): number;
  /** Answered or in flight since this process began, asked for included. */
  given(): number;
  /** Committed on a UTC day, as far as this edge knows. */
  committed(day: string): number;
}

/** One more message of a widget. */
export interface MessageQuestion {
  /** `x-request-id`. */
  id: string;
  perDay: number;
  perMinute: number;
  /** What the visitor's session and address are counted under; undefined where visitors aren't limited. */
  visitor: { names: readonly [session: string, address: string]; limits: VisitorLimits } | undefined;
  /** Reads what is committed from the database. */
  readAgain(): Promise<void>;
  /** Called at once when there is no place. */
  onRefused(): void;
}

/** Why there is no place: the minute or the day of the widget or of the visitor. A minute says how long to wait. */
export interface MessageVerdict {
  kind: 'ok' | 'minute' | 'day' | 'visitor_minute' | 'visitor';
  waitMs: number;
}

/** Messages of widgets and of their visitors, counted over all edges. */
export interface SharedMessages {
  /** Takes a place of the day, and of the visitor. */
  take(count: MessageCount, question: MessageQuestion): Promise<MessageVerdict>;
  /** Fewer messages are open than before. The visitor of `returned` gets its place back, too. */
  changed(count: MessageCount, returned?: MessageQuestion): void;
}
