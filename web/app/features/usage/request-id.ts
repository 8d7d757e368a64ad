const FORM = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether a text has the form of a request id. */
export const isRequestId = (text: string): boolean => FORM.test(text);
