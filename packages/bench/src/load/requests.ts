import type { LoadRequest } from './send-load.ts';

/** The path of the intake's route. */
export const submitPath = '/api/v1/leads';
/** The path of the CRM's routes that create and list leads. */
export const crmLeadsPath = '/api/v1/order/leads';

/** The workspace, user and campaign of the leads that references store. No rows have these ids. */
export const referenceOwner = {
  workspaceId: '01900001-0000-7000-8000-000000000000',
  userId: '01900002-0000-7000-8000-000000000000',
  campaignId: '01900003-0000-7000-8000-000000000000',
} as const;

/**
 * The name of leads that only the database rejects, with its additional constraint
 * (intake/rejected-leads.ts).
 */
export const rejectedName = 'Rejected';

/** The address and the content of requests. */
export interface RequestTarget {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** GET requests have no body. Default: POST. */
  readonly method?: 'GET';
  /** Changes the status of these leads in turn, from OnHold to Approved and back, instead of creating leads. */
  readonly changedLeadIds?: readonly string[];
  /** Set for the CRM's route. The body then has a campaign, and omits the click id and the landing page. */
  readonly campaignCode?: string;
  /** One lead in 100 is rejected by validation, or by a constraint of the database. */
  readonly rejectedBy?: 'validation' | 'database' | undefined;
  /** The size of an additional field of each lead, in bytes. The intake keeps unknown fields up to 8 KiB. */
  readonly paddingBytes?: number | undefined;
}

/** The number of different values of each field. */
export const cardinality = { firstNames: 100, lastNames: 100, landingPages: 20, phones: 8_000_000 };
const rejectionInterval = 100;
const rejectedFields = { validation: { name: 17 }, database: { name: rejectedName } };

/**
 * Returns a function that creates requests. Each lead has its own phone number, click id and name, evenly
 * distributed over the values that real leads repeat. pgbench inserts the same rows (intake/pgbench.ts).
 *
 * @param first the number of the first lead. Other numbers create other leads.
 */
export function createRequests(target: RequestTarget, first: number): () => LoadRequest {
  const { port, path, rejectedBy, campaignCode, paddingBytes } = target;
  const lines = Object.entries({
    Host: `127.0.0.1:${port}`,
    ...target.headers,
    Accept: 'application/json',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  if (target.method === 'GET') {
    const request = { bytes: `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n` };
    return () => request;
  }
  const { changedLeadIds: ids } = target;
  if (ids !== undefined) {
    let sent = 0;
    return () => {
      const status = Math.floor(sent / ids.length) % 2 === 0 ? 'Approved' : 'OnHold';
      const body = JSON.stringify({ status });
      const line = `PATCH ${crmLeadsPath}/${ids[sent++ % ids.length]} HTTP/1.1\r\n`;
      const rest = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      return { bytes: `${line}${lines.join('')}${rest}` };
    };
  }
  const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}Content-Type: application/json\r\n`;
  const padding = paddingBytes === undefined ? {} : { padding: 'x'.repeat(paddingBytes) };
  let number = first;
  return () => {
    const expectsRejection = rejectedBy !== undefined && (number - first) % rejectionInterval === 0;
    number++;
    const lead = { ...leadBody(number, campaignCode), ...padding };
    const body = JSON.stringify(expectsRejection ? { ...lead, ...rejectedFields[rejectedBy] } : lead);
    return { bytes: `${head}Content-Length: ${body.length}\r\n\r\n${body}`, expectsRejection };
  };
}

function leadBody(number: number, campaignCode: string | undefined) {
  // A prime factor keeps consecutive leads far apart in every index.
  const spread = (number * 7_368_787) % 1_000_000_007;
  const phone = String(2_000_000 + (spread % cardinality.phones));
  const person = {
    name: `Ada${digits(spread % cardinality.firstNames, 2)} Lovelace${digits(number % cardinality.lastNames, 2)}`,
    phone: `+1 202 ${phone.slice(0, 3)} ${phone.slice(3)}`,
    address: '1 Arlington Ridge, Virginia',
  };
  if (campaignCode !== undefined) return { campaignCode, ...person };
  return {
    ...person,
    s1: `click-8f14e45f-${digits(spread, 10)}`,
    lp_name: `offer-${digits(number % cardinality.landingPages, 2)}`,
  };
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}
