import type { LeadEvent } from '../event/lead-event.schema.ts';
import type { AttemptOutcome, ClaimedDelivery, ClaimedPostback } from './delivery-queue.ts';
import {
  loggedRequest,
  personalValuesOf,
  postbackValuesOf,
  renderPostback,
  samplePostbackValues,
} from './postback-request.ts';
import type { SecretBox } from './secret-box.ts';
import type { SendRequest } from './send-request.ts';

/** A request to send, and what the log keeps of it. */
export interface PlannedRequest {
  readonly request: Omit<SendRequest, 'signal'>;
  /** Only for postbacks. */
  readonly log?: {
    readonly request: string;
    readonly requestHash: string;
    /** Masks the personal values of the request in an answer. */
    readonly maskAnswer: (answer: string) => string;
  };
}

/** Texts that are shorter are not searched in answers, because they are parts of other words. */
const minMaskedLength = 3;

/**
 * Returns the request of a claimed postback, or the outcome if nothing is to be sent.
 *
 * @param event undefined for a test, which is rendered with sample values.
 */
export function planPostback(
  delivery: Pick<ClaimedDelivery, 'url'> & { readonly postback: ClaimedPostback },
  event: LeadEvent | undefined,
  secrets: Pick<SecretBox, 'hash'>,
): PlannedRequest | { readonly outcome: Pick<AttemptOutcome, 'state' | 'skipReason'> } {
  const { url, postback } = delivery;
  const { sendsWithoutS1, lastRequestHash, isOvertaken, statuses } = postback;
  if (isOvertaken) return { outcome: { state: 'superseded' } };
  const values = event === undefined ? samplePostbackValues(statuses[0]) : postbackValuesOf(event);
  if (!values.s1 && !sendsWithoutS1) return { outcome: { state: 'skipped', skipReason: 'no_s1' } };
  const templates = { ...postback, url };
  const rendered = renderPostback(templates, values);
  const { method, body, contentType } = rendered;
  const requestHash = secrets.hash(JSON.stringify([method, rendered.url, contentType, body]));
  if (requestHash === lastRequestHash) return { outcome: { state: 'skipped', skipReason: 'unchanged' } };
  const personal = personalValuesOf(values).filter(({ length }) => length >= minMaskedLength);
  return {
    request: {
      method,
      url: rendered.url,
      headers: {
        'user-agent': 'leads-postbacks/1',
        ...(contentType !== undefined && { 'content-type': contentType }),
      },
      body,
    },
    log: {
      request: loggedRequest(templates, values),
      requestHash,
      maskAnswer: (answer) => personal.reduce((text, value) => text.replaceAll(value, 'masked'), answer),
    },
  };
}
