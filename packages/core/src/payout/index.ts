export { formatPayout, parsePayoutText } from './payout.ts';
export { LeadPayout, Payout, PublisherPayout, PublisherPayoutAnswer } from './payout.schema.ts';
export type { PayoutStore } from './payout-store.ts';
export { listPublisherPayouts, removePublisherPayout, setPublisherPayout } from './publisher-payouts.ts';
export { getStatement, statementToCsv } from './get-statement.ts';
export { Statement, StatementQuery } from './statement.schema.ts';
