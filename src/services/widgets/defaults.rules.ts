/** Values of a new widget. */
export const WIDGET_DEFAULTS = {
  greeting_message: 'Hi! How can I help?',
  placeholder: 'Type a message…',
  primary: '#0b5563',
  position: 'bottom-right',
  rate_limit_per_minute: 10,
  daily_message_limit: 200,
} as const;
