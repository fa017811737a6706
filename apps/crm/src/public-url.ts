import type { CrmConfig } from './config.ts';

/** Returns the URL of the website for users, without a path. */
export function publicUrlOf({ PUBLIC_URL, CRM_PORT }: Pick<CrmConfig, 'PUBLIC_URL' | 'CRM_PORT'>): string {
  return PUBLIC_URL ?? `http://localhost:${CRM_PORT}`;
}

/** Returns the URLs of the two APIs for clients, with the `/api` prefix. */
export function apiAddresses(config: CrmConfig): { crm: string; intake?: string } {
  return {
    crm: `${publicUrlOf(config)}/api`,
    ...(config.INTAKE_URL !== undefined && { intake: `${config.INTAKE_URL}/api` }),
  };
}
