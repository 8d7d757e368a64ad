/** The outcome of an answered message; that of a refused one is its error code. */
export const ANSWERED = 'answered';
/** Outcomes of messages refused with `widget_rate_limit` because of their visitor. */
export const VISITOR_DAILY_LIMIT = 'visitor_daily_limit';
export const VISITOR_MINUTE = 'visitor_rate_limit';
