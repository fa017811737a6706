import type { Demo } from './demo.ts';

/** Returns the startup message: URLs, credentials, and commands to paste into a shell. */
export function startupMessage(
  demo: Demo,
  facts: { dataDir: string; database: string; events: string },
): string {
  const key = `-H 'API_KEY: ${demo.apiKey}'`;
  const token = `-H 'Authorization: Bearer ${demo.accessToken}'`;
  const json = (body: object) => `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const lead = { campaignCode: demo.campaignCode, name: 'Ada Lovelace', phone: '+44 20 7946 0958' };
  const intakeLead = {
    name: 'Grace Hopper',
    phone: '+1 202 555 0143',
    lp_name: 'spring-offer',
    s1: 'click-1',
  };
  return `
Leads is running.

  Website     ${demo.website}, sign in as ${demo.email} with ${demo.password}

  CRM API     ${demo.crm}
  Intake API  ${demo.intake}
  API docs    ${new URL('/docs', demo.crm).href}
  Database    ${facts.database}
  Events      ${facts.events}
  Data, logs  ${facts.dataDir}

  API key       ${demo.apiKey}
  Access token  ${demo.accessToken}
  Campaign      ${demo.campaignCode}

A lead at the CRM API:

curl -sS '${demo.crm}/v1/order/leads' ${key} ${token} ${json(lead)}

A lead from a landing page:

curl -sS '${demo.intake}/v1/leads' ${key} ${json(intakeLead)}

Both, at the top of the list:

curl -sS '${demo.crm}/v1/order/leads?limit=2' ${key} ${token}

Ctrl-C ends it; the data stays.
`;
}
