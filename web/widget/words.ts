import type { Trouble } from './protocol';

/** The text that a visitor reads when there is no answer, and whether another try can help. */
export interface Explanation {
  text: string;
  canRetry: boolean;
}

const GONE = 'This chat isn’t available any more.';
const PAUSED = 'This chat isn’t available at the moment.';
const OVER: Explanation = {
  text: 'This conversation can’t be continued. Start a new one.',
  canRetry: false,
};

const WORDS: Record<string, Explanation> = {
  widget_not_found: { text: GONE, canRetry: false },
  widget_origin_denied: { text: 'This chat isn’t available on this site.', canRetry: false },
  widget_daily_cap_exceeded: {
    text: 'This chat has reached its limit for today. Please come back tomorrow.',
    canRetry: false,
  },
  widget_loop_detected: {
    text: 'These messages repeat themselves. Ask something else.',
    canRetry: false,
  },
  widget_monthly_limit_exceeded: { text: PAUSED, canRetry: false },
  widget_owner_insufficient_balance: { text: PAUSED, canRetry: false },
  service_unavailable: { text: 'This chat is busy. Try again in a moment.', canRetry: true },
  empty: {
    text: 'The model didn’t get to an answer. Try again, or ask for less.',
    canRetry: true,
  },
  model_not_allowed: { text: PAUSED, canRetry: false },
  upstream_unconfigured: { text: PAUSED, canRetry: false },
  validation_error: OVER,
  // Most likely it has become longer than the model's context.
  invalid_request: OVER,
};

/** Whether a conversation can't go on, even by trying again. */
export const endsConversation = ({ code }: Trouble): boolean => code !== undefined && WORDS[code] === OVER;

export function explain({ code, retryAfter }: Trouble): Explanation {
  if (code === undefined) {
    return { text: 'The chat can’t be reached. Check your connection and try again.', canRetry: true };
  }
  if (code === 'widget_rate_limit') {
    if (retryAfter === undefined) {
      return { text: 'You have reached your limit of messages for today.', canRetry: false };
    }
    const wait = retryAfter === 1 ? '1 second' : `${retryAfter} seconds`;
    return { text: `Too many messages at once. Try again in ${wait}.`, canRetry: true };
  }
  if (code === 'stalled') {
    return { text: 'No answer has come for a while. Wait a little longer, or try again.', canRetry: true };
  }
  if (code === 'cut') return { text: 'The answer was cut off.', canRetry: true };
  return WORDS[code] ?? { text: 'Something went wrong. Try again.', canRetry: true };
}
