/**
 * SQL condition: the error of a usage event says nothing about the model, because its caller left before most would
 * have, or the node refused the request. A caller who waited for half a minute may have met a model that hangs.
 */
export const CALLERS_FAULT = '(client_aborted and latency_ms < 30000 or http_status in (400, 413, 422))';
