import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WidgetEntry } from '../../inference/widgets/widget-cache.js';
import { Exchange } from '../exchange.js';
import { readerOf } from './widget-answer.js';

/** A request about a widget and its answer. */
export class WidgetExchange extends Exchange {
  widget: WidgetEntry | undefined;

  constructor(
    id: string,
    request: IncomingMessage,
    response: ServerResponse,
    /** The network address that asks; of IPv6 the /64. */
    readonly address: string,
    /** All networks that refusals count in; none of this machine's own address, behind which there may be a proxy. */
    readonly networks: readonly string[],
  ) {
    super(id, 'other', request, response);
  }

  get origin(): string | undefined {
    return this.request.headers.origin;
  }

  /** Who may read the answer in a browser. */
  get reader(): string | undefined {
    return readerOf(this.widget?.row.domains, this.origin);
  }
}
