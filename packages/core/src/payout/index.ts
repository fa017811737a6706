export { formatPayout, parsePayoutText } from './payout.ts';
export { LeadPayout, Payout, PublisherPayout, PublisherPayoutAnswer } from './payout.schema.ts';
export type { PayoutStore } from './payout-store.ts';
export { listPublisherPayouts, removePublisherPayout, setPublisherPayout } from './publisher-payouts.ts';
export { getStatement, statementToCsv } from './get-statement.ts';
export { Statement, StatementQuery } from './statement.schema.ts';
export {
  NewPayment,
  Payment,
  PaymentAnswer,
  PaymentCancellation,
  PaymentLeadQuery,
  PaymentQuery,
  PaymentWithLeads,
} from './payment.schema.ts';
export { PaymentRunner } from './payment-runner.ts';
export type { PaymentStore } from './payment-store.ts';
export { cancelPayment, createPayment, exportPayment, getPayment, listPayments } from './payments.ts';
