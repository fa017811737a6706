import { RequestLog, type RequestLogStore } from '@leads/core/request-log';
import { type Logger, warnOnError } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Opens the request log of a service, and registers its metrics. */
export function openRequestLog(
  service: 'crm' | 'intake',
  store: RequestLogStore,
  metrics: Metrics,
  log: Logger,
): RequestLog {
  const requests = new RequestLog(
    service,
    store,
    warnOnError(log, 'The request log was not written; retrying unless Postgres rejected it'),
  );
  metrics.counter(
    { name: 'request_log_requests_total', help: 'Requests with an API key, by their place in the log.' },
    () => Object.entries(requests.totals).map(([result, count]) => [{ result }, count]),
  );
  return requests;
}
