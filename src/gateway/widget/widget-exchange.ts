import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WidgetEntry } from '../../inference/widgets/widget-cache.js';
import { Exchange } from '../exchange.js';
import { readerOf } from './widget-answer.js';

/** A request to a widget and its response. */
export class WidgetExchange extends Exchange {
  widget: WidgetEntry | undefined;

  constructor(
    id: string,
    request: IncomingMessage,
    response: ServerResponse,
    /** The client's IPv4 address, or its IPv6 /64. */
    readonly address: string,
    /** Networks for which refusals count; empty for loopback, behind which there may be a proxy. */
    readonly networks: readonly string[],
  ) {
    super(id, 'other', request, response);
  }

  get origin(): string | undefined {
    return this.request.headers.origin;
  }

  /** The origin that may read the response in a browser. */
  get reader(): string | undefined {
    return readerOf(this.widget?.row.domains, this.origin);
  }
}
