import type { DeliveryState, DeliveryView, EndpointKind } from '@leads/core/delivery';

const states: Readonly<Record<DeliveryState, string>> = {
  waiting: 'Waiting',
  delivered: 'Delivered',
  failed: 'Failed',
  skipped: 'Skipped',
  superseded: 'Superseded',
};

const number = new Intl.NumberFormat('en');
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
const seconds = new Intl.NumberFormat('en', { style: 'unit', unit: 'second', unitDisplay: 'long' });
const minutes = new Intl.NumberFormat('en', { style: 'unit', unit: 'minute', unitDisplay: 'long' });

/** The texts that webhooks and postbacks share. */
export const endpoints = {
  title: 'Integrations',
  lead: 'Webhooks and postbacks send the changes of leads to your systems and trackers. A failed request is repeated for days.',
  publisherLead:
    'Postbacks report the statuses of your leads to your tracker. A failed request is repeated for days.',
  back: 'All integrations',
  edit: 'Edit',
  description: 'Description',
  includesImports: 'Also send imported leads',
  preview: 'Preview',
  previewLead: 'Lead',
  previewLeadHint: 'Nothing is sent.',
  noLeads: 'There is no lead yet.',
  previewFailed: 'Correct the fields to see the request.',
  previewEmpty: 'Enter a URL to see the request.',

  enabled: 'Enabled',
  failing: 'Failing',
  disabled: 'Disabled',
  disabledReasons: {
    user: 'Disabled by a member.',
    receiver: 'Disabled by the receiver: it answered that it wants no more events.',
    failing: 'Disabled, because no delivery succeeded for 3 days.',
  },
  disabledHint:
    'Events of the time in between are skipped. After you enable it again, you can send them with “Send missed events”.',
  successRate: 'Success rate',
  rate: (share: number) => percent.format(share),
  lastSuccess: 'Last success',
  failures: 'Failures in a row',
  failingSince: 'Failing since',
  nextTry: 'Next attempt',
  lag: 'Behind by',
  lagOf: (lagSeconds: number) =>
    lagSeconds < 120 ? seconds.format(lagSeconds) : minutes.format(Math.round(lagSeconds / 60)),
  created: 'Created',

  test: 'Send a test',
  testSent: 'The test is on its way. Its result appears in the list of deliveries.',
  disable: 'Disable',
  disableTitle: (kind: EndpointKind) => `Disable this ${kind}?`,
  disableLead: 'Events are skipped until it is enabled again. You can send them afterwards.',
  enable: 'Enable',
  remove: 'Delete',
  removeTitle: (kind: EndpointKind) => `Delete this ${kind}?`,
  removeLead: 'No more events are sent to it, waiting ones included. Its list of deliveries is deleted.',
  recover: 'Send missed events',
  recoverTitle: 'Send missed events again?',
  recoverLead: {
    webhook: 'Failed and skipped deliveries since this day are sent again, each with its old id.',
    postback: 'Of the failed and skipped statuses since this day, the newest of each lead is sent again.',
  },
  recoverSince: 'Since',
  notRecovered: 'No event was sent again',
  recoverStep: 'Enter the day since which events are sent again.',
  recovered: (count: number) =>
    count === 0
      ? 'Nothing was missed since then.'
      : `${number.format(count)} ${count === 1 ? 'event is' : 'events are'} sent again.`,
  notFound: (kind: EndpointKind) => `This ${kind} does not exist, or it was deleted.`,

  deliveries: 'Deliveries',
  deliveriesLead: 'Kept for 30 days.',
  noDeliveries: 'No deliveries. Send a test, or create a lead.',
  noneForLead: 'Nothing was sent for this lead.',
  states,
  skipReasons: {
    no_s1: 'Skipped: the lead has no s1.',
    unchanged: 'Skipped: the request equals the last delivered one for this lead.',
  } satisfies Record<NonNullable<DeliveryView['skipReason']>, string>,
  noneMatch: 'No delivery matches these filters.',
  clearFilters: 'Clear the filters',
  state: 'State',
  allStates: 'All states',
  statusCode: 'Status code',
  anyStatusCode: 'Any',
  wrongStatusCode: 'Enter 100 to 599',
  leadFilter: 'Lead',
  anyLead: 'Any lead',
  from: 'From',
  to: 'Before',
  testEvent: 'Test',
  leadOf: 'Lead',
  attempts: 'Attempts',
  lastAttempt: 'Last attempt',
  nextAttempt: 'Next attempt',
  answer: 'Answer',
  request: 'Request',
  showRequest: 'Show the request',
  showRequestOf: (id: string) => `Show the request: ${id}`,
  answerText: 'Text of the answer',
  took: (ms: number) => `${ms} ms`,
  /** The short codes of failures that the service reports. Another code is shown as it is. */
  errorOf: (code: string): string => code.replaceAll('_', ' '),
  resend: 'Send again',
  resendOf: (id: string) => `Send again: ${id}`,
  loadMore: 'Show more',
} as const;
