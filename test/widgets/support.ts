import { type ApiAnswer, call, type ErrorAnswer } from '../support/api.js';

export interface Widget {
  id: string;
  public_key: string;
  name: string;
  model_public_name: string;
  system_prompt: string;
  prompt_id: string | null;
  greeting_message: string;
  placeholder: string;
  theme: { primary: string; position: string };
  allowed_domains: string[];
  rate_limit_per_minute: number;
  daily_message_limit: number;
  visitor_daily_limit: number | null;
  verified_history: boolean;
  loop_detection: boolean;
  monthly_limit_usd: string | null;
  fallback_model_public_name: string | null;
  status: string;
  messages_today: number;
  spend_month_usd: string;
  created_at: string;
}

/** The widget routes in the name of somebody. */
export function widgetsApi(url: () => string, token: () => string) {
  const ask = <T>(method: string, path: string, body?: unknown): Promise<ApiAnswer<T>> =>
    call<T>(url(), method, `/api/widgets${path}`, { token: token(), ...(body !== undefined && { body }) });
  /** The body of an answer that must have a status. */
  const must = async <T>(status: number, method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await ask<T>(method, path, body);
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  return {
    ask,
    must,
    /** Status, code and the fields at fault of an answer that is an error. */
    async refused(method: string, path: string, body?: unknown): Promise<[number, string, ...string[]]> {
      const answer = await ask<ErrorAnswer>(method, path, body);
      const fields = answer.body?.error?.details?.map(({ field }) => field) ?? [];
      return [answer.status, answer.body?.error?.code, ...fields];
    },
    create: (input: object = {}): Promise<Widget> =>
      must(201, 'POST', '', { name: 'Help', model_public_name: 'gateway/fast', ...input }),
    get: (id: string): Promise<Widget> => must(200, 'GET', `/${id}`),
    update: (id: string, input: object): Promise<Widget> => must(200, 'PATCH', `/${id}`, input),
    rotate: (id: string): Promise<Widget> => must(200, 'POST', `/${id}/rotate-key`, {}),
  };
}
