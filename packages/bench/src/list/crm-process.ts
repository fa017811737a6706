import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createAccessTokenCodec } from '@leads/crm/access-token-codec';
import { issueAccessToken, issueApiKey, type MemberRef } from '@leads/core/credential';
import { createCredentialStore } from '@leads/core/db';
import { filled } from './fill.ts';
import { openForBench } from './queries.ts';

export const jwtSecret = 'a secret of the benchmarks, of 32 characters or more';

/** The CRM service or a reference of it, as a process of its own. */
export interface CrmProcess extends AsyncDisposable {
  readonly port: number;
  /** The most memory it has held resident so far, in bytes. */
  peakMemory(): Promise<number>;
}

/** @param kind `service`, or a reference's name and arguments (crm.ts). */
export async function startCrm(databaseUrl: string, kind: readonly string[]): Promise<CrmProcess> {
  const child = fork(join(import.meta.dirname, 'list/crm.js'), kind, {
    // Log lines are written as in production, but to nowhere.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      JWT_SECRET: jwtSecret,
      // Where the machine has little to give, waiting is what is measured, not giving up.
      DATABASE_CONNECT_TIMEOUT_MS: '30000',
      DATABASE_STATEMENT_TIMEOUT_MS: '30000',
    },
  });
  const exited = once(child, 'exit');
  const ask = async <Answer>(question?: string): Promise<Answer> => {
    const answer = once(child, 'message');
    if (question !== undefined) child.send(question);
    const ended = exited.then(() => {
      throw new Error(`The service (${kind.join(' ')}) has ended`);
    });
    const [message] = (await Promise.race([answer, ended])) as [Answer];
    return message;
  };
  const { port } = await ask<{ port: number }>();
  return {
    port,
    peakMemory: async () => (await ask<{ peakMemory: number }>('memory')).peakMemory,
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** @param member by default the owner of the large workspace. @returns the headers of both credentials. */
export async function issueCredentials(
  databaseUrl: string,
  member: MemberRef = { workspaceId: filled.large, userId: filled.owner },
): Promise<{ API_KEY: string; Authorization: string }> {
  await using database = openForBench(databaseUrl);
  const store = createCredentialStore(database);
  const codec = await createAccessTokenCodec(jwtSecret);
  const { apiKey } = await issueApiKey(store, member, { name: 'Benchmark', scope: 'full' });
  const { accessToken } = await issueAccessToken(store, codec, member, { name: 'Benchmark' });
  return { API_KEY: apiKey, Authorization: `Bearer ${accessToken}` };
}
