import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createGate } from '../../test/gate.ts';
import { DatabaseHealth } from '../database-health.ts';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import type { AccessTokenClaims, AccessTokenCodec } from './access-token.ts';
import { generateApiKey } from './api-key.ts';
import type { AccessToken, CredentialLookup } from './credential-store.ts';
import type { Principal } from './principal.ts';
import { CredentialVerifier } from './verify-credentials.ts';

type Found = NonNullable<Awaited<ReturnType<CredentialLookup['findApiKey']>>>;

const member = { workspaceId: newId(), userId: newId() };

/** A store of credentials that counts what it is asked. */
class Lookup implements CredentialLookup {
  readonly keys = new Map<string, Found>();
  readonly tokens = new Map<string, AccessToken>();
  asked = 0;
  /** Where set, answers wait for it. */
  gate: Promise<void> | undefined;
  failure: Error | undefined;

  async findApiKey(hash: Buffer): Promise<Found | undefined> {
    return this.#answer(() => this.keys.get(hash.toString('hex')));
  }

  async findAccessToken(id: string): Promise<AccessToken | undefined> {
    return this.#answer(() => this.tokens.get(id));
  }

  addKey(fields: Partial<Found> = {}): { apiKey: string; change: (fields: Partial<Found>) => void } {
    const { apiKey, hash } = generateApiKey();
    const id = hash.toString('hex');
    this.keys.set(id, {
      ...member,
      id: newId(),
      scope: 'full',
      allowedOrigins: [],
      role: 'owner',
      ...fields,
    });
    return { apiKey, change: (now) => this.keys.set(id, { ...(this.keys.get(id) as Found), ...now }) };
  }

  async #answer<T>(find: () => T): Promise<T> {
    this.asked += 1;
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    return find();
  }
}

let lookup: Lookup;
let verifier: CredentialVerifier;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // The cache keeps the object that it found when it was loaded, so it is its method that is replaced.
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  lookup = new Lookup();
  verifier = new CredentialVerifier(lookup);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('an API key', () => {
  test('stands for its member, with role, scope and default campaign', async () => {
    const defaultCampaignId = newId();
    const { apiKey } = lookup.addKey({
      id: 'the-key',
      scope: 'intake',
      role: 'publisher',
      defaultCampaignId,
      allowedOrigins: ['https://offer.example'],
    });
    expect(await verifier.verifyApiKey(apiKey)).toEqual({
      ...member,
      allowedOrigins: ['https://offer.example'],
      role: 'publisher',
      scope: 'intake',
      apiKeyId: 'the-key',
      defaultCampaignId,
    });
  });

  test('that is malformed is refused without asking', async () => {
    const { apiKey } = lookup.addKey();
    for (const text of ['', 'x', apiKey.slice(0, -1), `${apiKey} `, `${apiKey}, ${apiKey}`]) {
      expect(await verifier.verifyApiKey(text)).toBeUndefined();
    }
    expect(lookup.asked).toBe(0);
  });

  test('that is unknown is refused, and remembered as unknown', async () => {
    const { apiKey } = generateApiKey();
    for (let i = 0; i < 100; i++) expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    expect(lookup.asked).toBe(1);
  });

  test('is looked up once for many requests, at once or one after another', async () => {
    const { apiKey } = lookup.addKey();
    const gate = createGate();
    lookup.gate = gate.opened;
    const waiting = Array.from({ length: 500 }, async () => verifier.verifyApiKey(apiKey));
    await turn();
    expect(lookup.asked).toBe(1);
    gate.open();
    const principals = await Promise.all(waiting);
    expect(principals.every((principal) => principal?.userId === member.userId)).toBe(true);
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    expect(lookup.asked).toBe(1);
  });

  test('that is revoked is refused within 10 s, however busy it is', async () => {
    const { apiKey, change } = lookup.addKey();
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    change({ revokedAt: new Date() });
    let accepted = 0;
    for (let at = 0; at < 9_500; at += 100) {
      if ((await verifier.verifyApiKey(apiKey)) !== undefined) accepted += 1;
      vi.advanceTimersByTime(100);
    }
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    // Busy use must not have kept it alive; nor is every request a query.
    expect(accepted).toBeLessThan(90);
    expect(lookup.asked).toBe(2);
  });

  test('whose look-up was slow is believed no longer for it', async () => {
    const { apiKey, change } = lookup.addKey();
    const gate = createGate();
    lookup.gate = gate.opened;
    const waiting = verifier.verifyApiKey(apiKey);
    await turn();
    const old = lookup.keys.values().next().value as Found;
    change({ revokedAt: new Date() });
    vi.spyOn(lookup.keys, 'get').mockReturnValueOnce(old);
    vi.advanceTimersByTime(4_000);
    gate.open();
    expect(await waiting).toBeDefined();
    vi.advanceTimersByTime(5_000);
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
  });

  test('that is made after it was asked for is known within 10 s', async () => {
    const { apiKey, hash } = generateApiKey();
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    const { apiKey: other } = lookup.addKey();
    const [record] = lookup.keys.values();
    lookup.keys.set(hash.toString('hex'), record as Found);
    vi.advanceTimersByTime(9_900);
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    expect(await verifier.verifyApiKey(other)).toBeDefined();
  });

  test('expires to the millisecond, cached or not', async () => {
    const { apiKey } = lookup.addKey({ expiresAt: new Date(Date.now() + 1_000) });
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    vi.advanceTimersByTime(999);
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    expect(lookup.asked).toBe(1);
  });

  test('is neither known nor unknown while the store fails: the failure is not remembered', async () => {
    const { apiKey } = lookup.addKey();
    lookup.failure = new Error('away');
    const outcomes = await Promise.allSettled([verifier.verifyApiKey(apiKey), verifier.verifyApiKey(apiKey)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(verifier.verifyApiKey(apiKey)).rejects.toBe(lookup.failure);
    lookup.failure = undefined;
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
  });

  test('is answered even when a flood of other keys pushes it out of the cache meanwhile', async () => {
    const { apiKey } = lookup.addKey();
    const gate = createGate();
    lookup.gate = gate.opened;
    const first = verifier.verifyApiKey(apiKey);
    const flood = Array.from({ length: 10_500 }, async () => verifier.verifyApiKey(generateApiKey().apiKey));
    gate.open();
    expect(await first).toBeDefined();
    expect((await Promise.all(flood)).every((principal) => principal === undefined)).toBe(true);
  });
});

describe('while the database is unavailable, with stale keys', () => {
  const minute = 60_000;
  let snapshotKey: Found | undefined;

  beforeEach(() => {
    snapshotKey = undefined;
    verifier = new CredentialVerifier(lookup, {
      database: new DatabaseHealth(),
      snapshot: { findApiKey: async () => snapshotKey && { found: snapshotKey, asOf: Date.now() } },
    });
  });

  test('a cached key is accepted until it expires', async () => {
    const { apiKey } = lookup.addKey({ expiresAt: new Date(Date.now() + 10 * minute) });
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    lookup.failure = new LeadsError('unavailable');
    vi.advanceTimersByTime(10 * minute - 1);
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
  });

  test('a revoked key stays refused', async () => {
    const { apiKey } = lookup.addKey({ revokedAt: new Date() });
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    lookup.failure = new LeadsError('unavailable');
    vi.advanceTimersByTime(minute);
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
  });

  test('an unknown key fails with unavailable, and a malformed one is refused', async () => {
    const { apiKey } = generateApiKey();
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    lookup.failure = new LeadsError('unavailable');
    vi.advanceTimersByTime(minute);
    for (const key of [apiKey, generateApiKey().apiKey]) {
      await expect(verifier.verifyApiKey(key)).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(await verifier.verifyApiKey(`${apiKey.slice(0, -1)}!`)).toBeUndefined();
  });

  test('a key of the snapshot is accepted until it expires', async () => {
    lookup.failure = new LeadsError('unavailable');
    const { apiKey } = lookup.addKey({ id: 'the-key', expiresAt: new Date(Date.now() + minute) });
    snapshotKey = [...lookup.keys.values()][0];
    expect(await verifier.verifyApiKey(apiKey)).toMatchObject({ apiKeyId: 'the-key' });
    vi.advanceTimersByTime(minute);
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
  });

  test('an invalidated key is removed at once', async () => {
    const { apiKey } = lookup.addKey({ id: 'the-key' });
    const { apiKey: other } = lookup.addKey({ id: 'other', userId: newId() });
    for (const key of [apiKey, other]) expect(await verifier.verifyApiKey(key)).toBeDefined();
    lookup.failure = new LeadsError('unavailable');
    verifier.invalidate({ kind: 'api_key', id: 'the-key' });
    await expect(verifier.verifyApiKey(apiKey)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await verifier.verifyApiKey(other)).toBeDefined();
    verifier.invalidate({ kind: 'member', ...member });
    expect(await verifier.verifyApiKey(other)).toBeDefined();
  });
});

describe('an access token', () => {
  const principal: Principal = { ...member, role: 'owner', apiKeyId: newId(), scope: 'full' };
  /** Takes every text that is JSON: signatures are the codec's matter. */
  const codec: AccessTokenCodec = {
    sign: (claims) => JSON.stringify(claims),
    verify: (token) => (token === 'forged' ? undefined : (JSON.parse(token) as unknown)),
  };
  const tokenOf = (claims: Partial<Record<keyof AccessTokenClaims, unknown>>) => JSON.stringify(claims);

  function addToken(fields: Partial<AccessToken> = {}): { token: string; row: AccessToken } {
    const row: AccessToken = {
      ...member,
      id: newId(),
      name: 'a token',
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + 3_600_000),
      ...fields,
    };
    lookup.tokens.set(row.id, row);
    return { token: tokenOf({ sub: member.userId, ws: member.workspaceId, jti: row.id }), row };
  }
  const verify = (token: string) => verifier.verifyAccessToken(codec, token, principal);

  test('of the same user and workspace holds, and is looked up once', async () => {
    const { token, row } = addToken();
    expect(await Promise.all([verify(token), verify(token)])).toEqual([row.id, row.id]);
    expect(await verify(token)).toBe(row.id);
    expect(lookup.asked).toBe(1);
  });

  test('that the codec refuses, or whose claims are none, is refused without asking', async () => {
    const { row } = addToken();
    for (const token of [
      'forged',
      'null',
      '1',
      '"text"',
      '[]',
      '{}',
      tokenOf({ sub: member.userId, ws: member.workspaceId }),
      tokenOf({ sub: member.userId, ws: member.workspaceId, jti: 'x' }),
      tokenOf({ sub: member.userId, ws: member.workspaceId, jti: [row.id] }),
      tokenOf({ sub: newId(), ws: member.workspaceId, jti: row.id }),
      tokenOf({ sub: member.userId, ws: newId(), jti: row.id }),
    ]) {
      expect(await verify(token), token).toBeUndefined();
    }
    expect(lookup.asked).toBe(0);
  });

  test('that has no row, or another member’s, is refused', async () => {
    expect(
      await verify(tokenOf({ sub: member.userId, ws: member.workspaceId, jti: newId() })),
    ).toBeUndefined();
    expect(await verify(addToken({ userId: newId() }).token)).toBeUndefined();
    expect(await verify(addToken({ workspaceId: newId() }).token)).toBeUndefined();
  });

  test('that is revoked is refused within 10 s', async () => {
    const { token, row } = addToken();
    expect(await verify(token)).toBeDefined();
    lookup.tokens.set(row.id, { ...row, revokedAt: new Date() });
    for (let at = 0; at < 95; at++) {
      vi.advanceTimersByTime(100);
      await verify(token);
    }
    expect(await verify(token)).toBeUndefined();
    expect(lookup.asked).toBe(2);
  });

  test('expires with its row', async () => {
    const { token } = addToken({ expiresAt: new Date(Date.now() + 500) });
    expect(await verify(token)).toBeDefined();
    vi.advanceTimersByTime(500);
    expect(await verify(token)).toBeUndefined();
  });
});
