import { headerLines, type LoadRequest } from '../load.ts';

export const leadPath = '/api/v1/leads';

/** Whose leads the references store. There is nothing behind these ids. */
export const owner = {
  workspaceId: '01900001-0000-7000-8000-000000000000',
  userId: '01900002-0000-7000-8000-000000000000',
  campaignId: '01900003-0000-7000-8000-000000000000',
} as const;

/** The name of leads that the database refuses, once told to (database.ts). */
export const refusedName = 'Poison';

/** Which leads are sent. */
export interface LeadKind {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One in a hundred is refused: by the validation, or by the database alone. */
  readonly poison?: 'invalid' | 'refused' | undefined;
  /** Makes them leads of the CRM's. */
  readonly campaignCode?: string | undefined;
}

/** How many of each there are. */
export const spreads = { firstNames: 100, lastNames: 100, landingPages: 20, phones: 8_000_000 };
const poisonEvery = 100;

/**
 * Makes requests that create leads, each with a phone number, a click id and a name of its own, evenly spread over
 * what real ones repeat. pgbench inserts the same rows (pgbench.ts).
 *
 * @param first the number of the first lead; of other numbers come other leads.
 */
export function createLeadRequests(kind: LeadKind, first: number): () => LoadRequest {
  const { port, path, headers, poison, campaignCode } = kind;
  const head =
    `POST ${path} HTTP/1.1\r\n` +
    headerLines(port, { ...headers, Accept: 'application/json', 'Content-Type': 'application/json' });
  let number = first;
  return () => {
    const isPoison = poison !== undefined && (number - first) % poisonEvery === 0;
    number++;
    const lead = leadBody(number, campaignCode);
    const body = JSON.stringify(isPoison ? { ...lead, ...poisonous[poison] } : lead);
    return { bytes: `${head}Content-Length: ${body.length}\r\n\r\n${body}`, isPoison };
  };
}

const poisonous = { invalid: { name: 17 }, refused: { name: refusedName } };

function leadBody(number: number, campaignCode: string | undefined) {
  // A prime as the factor, so that neighbours are far apart in every index.
  const drawn = (number * 7_368_787) % 1_000_000_007;
  const phone = String(2_000_000 + (drawn % spreads.phones));
  const person = {
    name: `Ada${digits(drawn % spreads.firstNames, 2)} Lovelace${digits(number % spreads.lastNames, 2)}`,
    phone: `+1 202 ${phone.slice(0, 3)} ${phone.slice(3)}`,
    address: '1 Arlington Ridge, Virginia',
  };
  if (campaignCode !== undefined) return { campaignCode, ...person };
  return {
    ...person,
    s1: `click-8f14e45f-${digits(drawn, 10)}`,
    lp_name: `offer-${digits(number % spreads.landingPages, 2)}`,
  };
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}
