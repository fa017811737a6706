export { readKeyUsage, readRequestLog } from './read-request-log.ts';
export { KeyUsage, RequestLogPage, RequestLogQuery } from './request-log.schema.ts';
export { type AnsweredRequest, RequestLog, type RequestKey } from './request-log.ts';
export { RequestLogRetention } from './request-log-retention.ts';
export type { LoggedRequest, RequestLogStore } from './request-log-store.ts';
