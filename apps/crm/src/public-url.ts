import type { CrmConfig } from './config.ts';

/** Where users reach the website, without a path. */
export function publicUrlOf({ PUBLIC_URL, CRM_PORT }: Pick<CrmConfig, 'PUBLIC_URL' | 'CRM_PORT'>): string {
  return PUBLIC_URL ?? `http://localhost:${CRM_PORT}`;
}

/** The two APIs as their callers address them, with the `/api` prefix. */
export function apiAddresses(config: CrmConfig): { crm: string; intake?: string } {
  return {
    crm: `${publicUrlOf(config)}/api`,
    ...(config.INTAKE_URL !== undefined && { intake: `${config.INTAKE_URL}/api` }),
  };
}
