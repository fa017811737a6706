import { issueAccessToken, issueApiKey, type MemberRef } from '@leads/core/credential';
import { createCredentialStore, createWorkspaceStore } from '@leads/core/db';
import { createAccessTokenCodec } from '@leads/crm/access-token-codec';
import { openForBench } from './database.ts';

export const jwtSecret = 'a secret of the benchmarks, of 32 characters or more';
export const ownerEmail = 'bench@example.com';
/** The slug of the owner's workspace. */
export const ownerWorkspace = 'bench';

/** The headers that authenticate a member. The intake needs the API key only. */
export type Credentials = Readonly<Record<'API_KEY' | 'Authorization', string>>;

/** Creates a workspace with an owner. @returns the owner's credentials. */
export async function createOwner(databaseUrl: string): Promise<Credentials> {
  await using database = openForBench(databaseUrl);
  const { user, workspace } = await createWorkspaceStore(database).addMember({
    email: ownerEmail,
    name: 'Benchmark',
    role: 'owner',
    workspace: { slug: ownerWorkspace, name: 'Benchmark' },
  });
  return await issueCredentials(databaseUrl, { workspaceId: workspace.id, userId: user.id });
}

export async function issueCredentials(databaseUrl: string, member: MemberRef): Promise<Credentials> {
  await using database = openForBench(databaseUrl);
  const store = createCredentialStore(database);
  const codec = await createAccessTokenCodec(jwtSecret);
  const { apiKey } = await issueApiKey(store, member, { name: 'Benchmark', scope: 'full' });
  const { accessToken } = await issueAccessToken(store, codec, member, { name: 'Benchmark' });
  return { API_KEY: apiKey, Authorization: `Bearer ${accessToken}` };
}
