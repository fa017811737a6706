import type { LeadEvent } from '../event/lead-event.schema.ts';
import type { LeadStatus } from '../lead/lead-transitions.ts';
import { webhookMessageId } from './message-id.ts';
import {
  parseFormTemplate,
  parseJsonTemplate,
  parsePostbackTemplate,
  personalMacros,
  type PostbackValues,
} from './postback-template.ts';

/** The formats of a body, and their media types. */
const mediaTypes = { form: 'application/x-www-form-urlencoded', json: 'application/json' } as const;
export type BodyFormat = keyof typeof mediaTypes;
export const bodyFormats = ['form', 'json'] as const satisfies readonly BodyFormat[];

/** The templates of a request. */
export interface PostbackTemplates {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly bodyFormat?: BodyFormat | undefined;
  readonly body?: string | undefined;
}

/** A rendered request. */
export interface PostbackRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly contentType?: string;
  readonly body?: string;
}

/** The text that replaces personal values in the log. */
const mask = 'masked';
/** The length of a request in the log, in characters. */
const maxLoggedLength = 4_096;

/** Renders the templates of a request. @throws PostbackTemplateError for templates that were not checked. */
export function renderPostback(templates: PostbackTemplates, values: PostbackValues): PostbackRequest {
  const { url, method, bodyFormat, body } = templates;
  return {
    method,
    url: parsePostbackTemplate(url).render(values),
    ...(bodyFormat !== undefined &&
      body !== undefined && {
        contentType: mediaTypes[bodyFormat],
        body: parseBodyTemplate(bodyFormat, body).render(values),
      }),
  };
}

/** @throws PostbackTemplateError */
export function parseBodyTemplate(format: BodyFormat, body: string) {
  return format === 'form' ? parseFormTemplate(body) : parseJsonTemplate(body);
}

/** Returns the values of macros for the event of a lead. */
export function postbackValuesOf({ time, data: { lead, change } }: LeadEvent): PostbackValues {
  const { id, status, s1, campaignCode, lpName, country, name, phone, email, address, ip, extra, payout } =
    lead;
  const values = {
    order_id: id,
    s1,
    payout: payout?.amount,
    currency: payout?.currency,
    campaign: campaignCode,
    lp_name: lpName,
    reason: change.reason,
    country,
    name,
    phone,
    email,
    address,
    ip,
    extra: extra as Record<string, unknown> | undefined,
  };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(given) as PostbackValues),
    status,
    time,
    event_id: webhookMessageId({ id, leadId: id, version: lead.version }),
  };
}

/** Returns values for a test, which has no lead. */
export function samplePostbackValues(status: LeadStatus): PostbackValues {
  const orderId = '00000000-0000-7000-8000-000000000000';
  return {
    order_id: orderId,
    s1: 'test',
    status,
    payout: '12.5',
    currency: 'EUR',
    campaign: 'TEST',
    lp_name: 'test',
    reason: 'test',
    country: 'GB',
    time: new Date().toISOString(),
    event_id: `evt_${orderId}_1`,
    name: 'Test',
    phone: '+442079460000',
    email: 'test@example.io',
    address: 'test',
    ip: '192.0.2.1',
  };
}

/** Returns the text of a request for the log. Personal values and the reason, which people write, are masked. */
export function loggedRequest(templates: PostbackTemplates, values: PostbackValues): string {
  const { extra = {}, ...others } = values;
  const masked: Record<string, unknown> = { ...others };
  for (const name of [...personalMacros, 'reason']) if (name in masked) masked[name] = mask;
  masked['extra'] = Object.fromEntries(Object.keys(extra).map((name) => [name, mask]));
  const { method, url, body } = renderPostback(templates, masked);
  const text = body === undefined ? `${method} ${url}` : `${method} ${url}\n\n${body}`;
  return text.replaceAll('\0', '').slice(0, maxLoggedLength).toWellFormed();
}

/** Returns the texts of personal values, as they are and percent-encoded. */
export function personalValuesOf({ extra = {}, ...values }: PostbackValues): string[] {
  const personal = [...personalMacros, 'reason' as const].flatMap((name) => values[name] ?? []);
  const texts = [...personal, ...Object.values(extra).filter((value) => typeof value === 'string')];
  // The longest first, because one may be a part of another.
  return [...new Set(texts.flatMap((text) => [text, encodeURIComponent(text.toWellFormed())]))].toSorted(
    (a, b) => b.length - a.length,
  );
}
