import type { LoadProcess } from '../load/load-process.ts';
import { crmLeadsPath } from '../load/requests.ts';
import { type Credentials, issueCredentials } from '../stack/credentials.ts';
import { filled } from './fill.ts';
import type { FilledDatabases } from './filled-databases.ts';

/** The shared resources of all steps of this bench. */
export interface ListBench {
  readonly databases: FilledDatabases;
  readonly load: LoadProcess;
  /** Sends as many requests as a target answers: {@link load}, or wrk. */
  readonly peakLoad: Pick<LoadProcess, 'send'>;
  /** Database sizes in leads. */
  readonly sizes: readonly number[];
  readonly rateSizes: readonly number[];
  readonly exportSize: number;
  /** The number of measurements, relative to the default. */
  readonly effort: number;
  readonly onProgress: (line: string) => void;
}

/** The owner of the large workspace, and a publisher in it. */
export const viewers = {
  owner: viewer('owner', filled.owner),
  publisher: viewer('publisher', filled.publisher),
} as const;

function viewer(role: 'owner' | 'publisher', userId: string) {
  const credential = { apiKeyId: '', scope: 'full' as const, defaultCampaignId: undefined };
  return { workspaceId: filled.large, userId, role, ...credential };
}

/** Returns credentials of the owner of the large workspace. */
export function issueOwnerCredentials(databaseUrl: string): Promise<Credentials> {
  return issueCredentials(databaseUrl, { workspaceId: filled.large, userId: filled.owner });
}

/** A load of 50 creates per second until it is ended. */
export const steadyCreates = {
  path: crmLeadsPath,
  campaignCode: 'C0',
  connections: 4,
  rate: 50,
  durationMs: 3_600_000,
} as const;

/** A load that lists the newest 100 leads. */
export const newestLists = { method: 'GET', path: crmLeadsPath, connections: 64 } as const;

/** Returns the duration of one measurement over HTTP in milliseconds. */
export function measurementMs({ effort }: ListBench): number {
  return 1_000 * Math.min(1, Math.max(0.2, effort * 2));
}
