const number = new Intl.NumberFormat('en');
const requests = (count: number) => `${number.format(count)} ${count === 1 ? 'request' : 'requests'}`;

export const developers = {
  title: 'Developers',
  tabs: {
    keys: 'Keys and tokens',
    examples: 'Examples',
    requests: 'Request log',
    usage: 'Usage',
    integrations: 'Integrations',
  },
  key: 'API key',
  noKeys: 'You have no API key yet. Requests with a key appear here.',
  createKey: 'Create a key',
  ofMember: (name: string, prefix: string, email: string) => `${name} (${prefix}…), ${email}`,
  ofUser: (name: string, prefix: string) => `${name} (${prefix}…)`,

  requestsLead:
    'This page lists the last 1,000 requests with the key, for 30 days. Rejected requests are listed too, once the key is known. A request appears within 5 seconds. Its content is not stored.',
  status: 'Status',
  statuses: { all: 'All', success: 'Success', client_error: 'Client errors', server_error: 'Server errors' },
  service: 'Service',
  services: { all: 'All services', crm: 'CRM API', intake: 'Intake API' },
  live: 'Refresh every 3 seconds',
  paused: 'Refreshing is paused while older requests are shown.',
  unlisted: (count: number) =>
    `${requests(count)} of today (UTC) ${count === 1 ? 'is' : 'are'} counted in Usage, but not listed here. A service lists up to 50 successes and 50 failures of a key in 5 seconds.`,
  noRequests: 'No requests yet.',
  sendFirst: 'Send one from the examples',
  noMatch: 'No request matches the filter.',
  clearFilter: 'Show all requests',
  columns: { time: 'Time', status: 'Status', request: 'Request', duration: 'Duration' },
  durationMs: (ms: string) => `${ms} ms`,
  disconnected: 'The client disconnected before the response.',
  aboutErrors: 'API reference',
  older: 'Show older requests',
  shown: requests,

  usageLead: 'This page counts the requests with the key by day (UTC), for 90 days.',
  usageChart: 'Requests by day',
  noUsage: 'No requests in the last 90 days.',
  day: 'Day',
  counts: {
    success: 'Success',
    clientErrors: 'Client errors',
    serverErrors: 'Server errors',
    unlisted: 'Not listed in the log',
  },
  requests: 'Requests',
} as const;
