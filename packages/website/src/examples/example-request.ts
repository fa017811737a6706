import type { Me } from '@leads/core/account';

/** The APIs of the examples. The intake is first: it needs a key only. */
export const apis = ['intake', 'crm'] as const;
export type Api = (typeof apis)[number];

export interface Secrets {
  readonly apiKey: string;
  readonly accessToken: string;
}

/** The placeholder of a missing secret. */
export const placeholders: Secrets = { apiKey: '<API_KEY>', accessToken: '<ACCESS_TOKEN>' };

/** A request that sends a lead. */
export interface ExampleRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly lead: Readonly<Record<string, string>>;
  /** The origin of the sending page, if known. */
  readonly page?: string | undefined;
}

/** The example origin, if none is known. */
export const examplePage = 'https://offer.example.com';

/** The lead of the examples. Its phone number is reserved for fiction. */
export const exampleLead = { name: 'Test Lead', phone: '+1 202 555 0147' } as const;

/** The CRM API's request to create a lead. */
export function crmRequest(
  addresses: Me['addresses'],
  { apiKey, accessToken }: Secrets,
  lead: ExampleRequest['lead'],
): ExampleRequest {
  return {
    url: `${addresses.crm}/v1/order/leads`,
    headers: {
      API_KEY: apiKey,
      Authorization: `Bearer ${accessToken}`,
      'Content-Type': 'application/json',
    },
    lead,
  };
}

/** The intake's request to create a lead. */
export function intakeRequest(
  intake: string,
  { apiKey }: Pick<Secrets, 'apiKey'>,
  lead: ExampleRequest['lead'],
  page?: string,
): ExampleRequest {
  return {
    page,
    url: `${intake}/v1/leads`,
    headers: { API_KEY: apiKey, 'Content-Type': 'application/json' },
    lead,
  };
}

/** Masks a secret: its beginning stays readable, and the result is not a valid credential. */
export function mask(secret: string): string {
  return secret.startsWith('<') ? secret : `${secret.slice(0, secret.startsWith('lk_') ? 11 : 4)}••••••••`;
}
