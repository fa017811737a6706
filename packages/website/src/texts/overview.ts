import { leadsOf } from './count.ts';

const daysOf = (count: number) => (count === 1 ? '1 day' : `${count} days`);

export const overview = {
  title: 'Overview',
  range: 'Range',
  presets: {
    today: 'Today',
    '7d': 'Last 7 days',
    '30d': 'Last 30 days',
    '90d': 'Last 90 days',
    'this-month': 'This month',
    'last-month': 'Last month',
    '12m': 'Last 12 months',
  },
  custom: 'From … to',
  from: 'From',
  to: 'To',
  compare: 'Compare with',
  compareBefore: 'The days before',
  compareFrom: 'Compare from',
  compareTo: 'Compare to',
  zone: 'Time zone',
  zoneUnknown: 'No such time zone',
  toBeforeFrom: 'Must not be before the first day',
  totals: 'Totals',
  statuses: { OnHold: 'On hold', Approved: 'Approved', Paid: 'Paid', Trashed: 'Trashed' },
  leads: 'Leads',
  approveRate: 'Approve rate',
  approveRateWithoutTrash: 'Approve rate without trash',
  rateHelp:
    'The approve rate is the share of approved and paid leads among all leads. “Without trash” ignores trashed leads. “–” means that there are no leads.',
  before: (days: number) => (days === 1 ? 'the day before' : `the ${days} days before`),
  until: (compared: string, time: string) => `${compared} until ${time}`,
  span: (from: string, to: string) => `${from} to ${to}`,
  comparedWith: (compared: string) => `The changes compare this range with ${compared}.`,
  otherLength: (compared: number, range: number) =>
    `The compared range has ${daysOf(compared)} and this range has ${daysOf(range)}, so only the rates compare well.`,
  noneBefore: 'none before',
  points: (change: string) => `${change} points`,
  byTime: {
    hour: 'Leads by hour',
    day: 'Leads by day',
    week: 'Leads by week',
    month: 'Leads by month',
    quarter: 'Leads by quarter',
  },
  payoutsByTime: {
    hour: 'Payouts by hour',
    day: 'Payouts by day',
    week: 'Payouts by week',
    month: 'Payouts by month',
    quarter: 'Payouts by quarter',
  },
  measure: 'Figures by time',
  payoutsIn: (currency: string) => `Payouts in ${currency}`,
  noPayoutsByTime:
    'The payouts of this range are too many to be shown by time. Choose a shorter range, or the time zone UTC.',
  units: { hour: 'Hour', day: 'Day', week: 'Week from', month: 'Month', quarter: 'Quarter from' },
  chart: 'Chart',
  table: 'Table',
  view: 'View of leads by time',
  chartLabel: (title: string) => `${title}, by status, as stacked bars. The table has the same figures.`,
  campaigns: 'By campaign',
  campaign: 'Campaign',
  landingPages: 'By landing page',
  landingPage: 'Landing page',
  s1: 'By sub-id (s1)',
  subId: 'Sub-id (s1)',
  s1Others: (count: number) =>
    `Without ${leadsOf(count)} of days with more than 100 sub-ids. Only the first 100 of a day are listed.`,
  publishers: 'By publisher',
  publisher: 'Publisher',
  countries: 'By country',
  country: 'Country',
  countriesFailed: (reason: string) =>
    `The leads could not be counted by country: ${reason}. Choose a shorter range, or try again later.`,
  payouts: 'Payouts',
  meanings: { expected: 'Expected', payable: 'Payable', paid: 'Paid' },
  amountIn: (meaning: string, currency: string) => `${meaning} (${currency})`,
  payoutsFailed: (reason: string) =>
    `The payouts could not be added up: ${reason}. Choose a shorter range, or try again later.`,
  hours: 'By hour of the day',
  hour: 'Hour',
  share: 'Share',
  downloadCsv: 'Download as CSV',
  csvPartial: 'The CSV file is incomplete, because some figures could not be loaded.',
  csvTable: 'Table',
  csvRow: 'Row',
  none: 'None in this range',
  empty: 'No leads in this range',
  emptyLead: 'Choose a longer range, or send the first lead.',
  sendLead: 'Get an API key',
  noRate: '–',
  attention: {
    title: 'Needs attention',
    waiting: (leads: string, isOne: boolean, oldest: string) =>
      isOne
        ? `1 lead is on hold. It arrived ${oldest}.`
        : `${leads} leads are on hold. The oldest arrived ${oldest}.`,
    review: 'Review them',
    callbacks: (leads: string, isOne: boolean, mine: string | undefined, earliest: string) =>
      isOne
        ? `1 call-back is due${mine === undefined ? '' : ', of a lead assigned to you'}. It was due ${earliest}.`
        : `${leads} call-backs are due${mine === undefined ? '' : `, ${mine} of leads assigned to you`}. The earliest was due ${earliest}.`,
    callMine: 'Call yours',
    callAll: 'See all of them',
    landingPages: {
      pending: (count: string) =>
        count === '1' ? '1 landing page waits for approval.' : `${count} landing pages wait for approval.`,
      unmapped: (count: string) =>
        count === '1' ? '1 landing page has no campaign.' : `${count} landing pages have no campaign.`,
      archived: (count: string) =>
        count === '1'
          ? '1 landing page is mapped to an archived campaign.'
          : `${count} landing pages are mapped to an archived campaign.`,
    },
    landingPageLinks: {
      pending: 'Approve or dismiss',
      unmapped: 'Choose the campaign',
      archived: 'Choose another campaign',
    },
    endpoint: (name: string, isDisabled: boolean, since: string) =>
      isDisabled ? `${name} was disabled ${since}.` : `${name} fails. The first failure was ${since}.`,
    openEndpoint: 'See its deliveries',
    credentialName: {
      apiKey: (name: string, member: string | undefined) =>
        member === undefined ? `Your API key ${name}` : `API key ${name} of ${member}`,
      accessToken: (name: string, member: string | undefined) =>
        member === undefined ? `Your access token ${name}` : `Access token ${name} of ${member}`,
    },
    credential: (name: string, isExpired: boolean, when: string) =>
      isExpired ? `${name} expired ${when}.` : `${name} expires ${when}.`,
    openCredential: 'Replace it',
    limited: (name: string, requests: number, last: string) =>
      `${name} sends too fast: a rate limit rejected ${requests === 1 ? '1 request' : `${requests} requests`}, the last ${last}.`,
    rejected: (name: string, requests: number, last: string) =>
      `${name} has expired and is still used: ${requests === 1 ? '1 request was' : `${requests} requests were`} rejected, the last ${last}. Create a new key for its client.`,
    openRequests: 'See its requests',
  },
} as const;
