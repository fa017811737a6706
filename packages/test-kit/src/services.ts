import {
  type Service,
  type ServiceName,
  type ServiceOptions,
  runLeads as runLocalLeads,
  startService as startLocalService,
} from '@leads/local-stack/processes/services';

export type { Service, ServiceName };

/** Timeouts of the database that a busy machine does not reach. A service answers a reached one with 503. */
export const longTimeouts = {
  DATABASE_CONNECT_TIMEOUT_MS: '30000',
  DATABASE_STATEMENT_TIMEOUT_MS: '60000',
} as const;

/** Starts a built service, with long timeouts unless `env` sets others. */
export function startService(name: ServiceName, options: ServiceOptions): Promise<Service> {
  return startLocalService(name, { ...options, env: { ...longTimeouts, ...options.env } });
}

/** Runs the command line, with long timeouts unless `env` sets others. */
export function runLeads(args: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  return runLocalLeads(args, { ...longTimeouts, ...env });
}
