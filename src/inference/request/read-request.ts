import type { JsonJob } from '../../lib/json-reader.js';
import type { AllowedFields } from './body-fields.js';
import type { MediaRules } from './media-addresses.js';
import { type InspectedBody, inspectBody } from './request-body.js';

/** A request body and the rules for reading it. */
export interface RequestToRead {
  body: Buffer;
  allowed: AllowedFields;
  media?: MediaRules;
}

/** The job of the worker thread that reads a body of `/v1`. @throws AppError `invalid_body` */
export const READ_REQUEST: JsonJob<RequestToRead, InspectedBody> = {
  name: 'request',
  run: ({ body, allowed, media }) => inspectBody(body, allowed, media),
};
