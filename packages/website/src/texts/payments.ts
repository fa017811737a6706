import { leadsOf } from './count.ts';

const number = new Intl.NumberFormat('en');
const are = (count: number) => (count === 1 ? 'is' : 'are');

export const payments = {
  title: 'Payments',
  lead: 'A payment marks the approved leads of a publisher as paid. The service moves no money.',
  ownLead: 'The payments to you, with their leads.',
  publisher: 'Publisher',
  allPublishers: 'All publishers',
  empty: 'No payments yet. The page Statements shows what is payable, and marks it as paid.',
  emptyOfPublisher: 'No payments to this publisher.',
  ownEmpty: 'No payments to you yet. The page Statements shows what is payable.',
  showStatements: 'Go to Statements',
  showAll: 'Show all payments',
  loadMore: 'Load more',
  name: (count: number) => `Payment ${count}`,
  states: { paying: 'In progress', paid: 'Done', cancelling: 'Being canceled', cancelled: 'Canceled' },
  amount: 'Amount',
  leads: 'Leads',
  date: 'Date',
  created: 'Created',
  createdBy: 'Created by',
  period: 'Leads created',
  periodOf: (from: string, to: string) => `${from} to ${to}`,
  campaign: 'Campaign',
  note: 'Note',
  canceled: 'Canceled',
  canceledBy: 'Canceled by',
  reason: 'Reason',
  paying: (done: number, total: number) =>
    `${number.format(done)} of ${leadsOf(total)} ${are(total)} marked as paid`,
  canceling: (done: number, total: number) =>
    `${number.format(done)} of ${leadsOf(total)} ${are(total)} approved again`,
  goesOn: 'It continues if you leave this page.',
  paidResult: (count: number) => `${leadsOf(count)} ${are(count)} marked as paid.`,
  skipped: (count: number) =>
    `${leadsOf(count)} ${are(count)} left out, because the status or the payout changed before the payment reached them.`,
  skippedByCancellation: (count: number) =>
    `${leadsOf(count)} ${are(count)} left out, because the status or the payout changed before, or the payment was canceled first.`,
  returned: (count: number) => `${leadsOf(count)} ${are(count)} approved again.`,
  kept: (count: number) =>
    `${leadsOf(count)} ${are(count)} unchanged by the cancellation, because the status had changed after the payment.`,
  stalled: 'The payment makes no progress at present',
  retry: 'Next attempt',
  back: 'All payments',
  download: 'Download as CSV',
  listed: 'Show these leads in the lead list',
  notFound: 'There is no such payment, or you have no access to it.',
  leadId: 'Lead',
  state: 'Result',
  leadStates: {
    planned: 'Not reached yet',
    paid: 'Marked as paid',
    skipped: 'Left out: changed before',
    returned: 'Approved again',
    kept: 'Unchanged by the cancellation',
  },
  cancel: 'Cancel payment',
  cancelTitle: (count: number) => `Cancel payment ${count}?`,
  cancelLead: (count: number) =>
    `${leadsOf(count)} will be approved again, with the same payout, unless the status has changed since. The payment stays in the list. This cannot be undone.`,
  cancelRest: 'The payment is in progress: it marks no further lead as paid.',
  cancelReason: 'Reason',
  cancelReasonHint: 'The publisher sees it, and the history of each lead has it.',
  keep: 'Keep payment',
  pay: (amount: string) => `Mark ${amount} as paid`,
  payOf: (amount: string, publisher: string) => `Mark ${amount} as paid: ${publisher}`,
  payTitle: (amount: string) => `Mark ${amount} as paid?`,
  payLead: (count: number, publisher: string, from: string, to: string, zone: string) =>
    `${leadsOf(count)} of ${publisher}, created from ${from} to ${to} (${zone}), will be marked as paid.`,
  payCampaign: (code: string) => `Only leads of the campaign ${code}.`,
  payRule: 'Leads that change meanwhile are left out. The payment gets the next number of the workspace.',
  noteHint: 'For example the reference of the transfer. The publisher sees it.',
  submit: 'Mark as paid',
  changed: (paid: number, shown: number) =>
    `The payment has ${leadsOf(paid)} instead of ${number.format(shown)}, because leads have changed since the statement was read, or are in another payment.`,
  inProgress: 'Payments in progress',
} as const;
