import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createGate } from '../../test/gate.ts';
import { DatabaseHealth } from '../database-health.ts';
import { LeadsError } from '../errors.ts';
import { createRateLimit } from '../limits/rate-limit.ts';
import { newId } from '../uuid.ts';
import type { AccessTokenClaims, AccessTokenCodec } from './access-token.ts';
import { generateApiKey } from './api-key.ts';
import type { AccessToken, CredentialLookup } from './credential-store.ts';
import type { Principal } from './principal.ts';
import { CredentialVerifier } from './verify-credentials.ts';

type Found = NonNullable<Awaited<ReturnType<CredentialLookup['findApiKey']>>>;

const member = { workspaceId: newId(), userId: newId() };

/** A credential store that counts its queries. */
class Lookup implements CredentialLookup {
  readonly keys = new Map<string, Found>();
  readonly tokens = new Map<string, AccessToken>();
  queries = 0;
  /** If set, queries wait for it. */
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
      allowedNetworks: [],
      role: 'owner',
      ...fields,
    });
    return { apiKey, change: (now) => this.keys.set(id, { ...(this.keys.get(id) as Found), ...now }) };
  }

  async #answer<T>(find: () => T): Promise<T> {
    this.queries += 1;
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    return find();
  }
}

let lookup: Lookup;
let verifier: CredentialVerifier;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // The cache keeps a reference to `performance` from its import, so only the method can be replaced.
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  lookup = new Lookup();
  verifier = new CredentialVerifier(lookup);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('an API key', () => {
  test('identifies its member, role, scope and default campaign', async () => {
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

  test('is verified with its scope, and with networks that are compiled once', async () => {
    const { apiKey } = lookup.addKey({ scope: ['leads:read'], allowedNetworks: ['203.0.113.0/24'] });
    const principal = await verifier.verifyApiKey(apiKey);
    expect(principal).toMatchObject({ scope: ['leads:read'] });
    expect(principal?.networks).toBeDefined();
    expect((await verifier.verifyApiKey(apiKey))?.networks).toBe(principal?.networks);
  });

  test('that is malformed is rejected without a query', async () => {
    const { apiKey } = lookup.addKey();
    for (const text of ['', 'x', apiKey.slice(0, -1), `${apiKey} `, `${apiKey}, ${apiKey}`]) {
      expect(await verifier.verifyApiKey(text)).toBeUndefined();
    }
    expect(lookup.queries).toBe(0);
  });

  test('that is unknown is rejected, and its absence is cached', async () => {
    const { apiKey } = generateApiKey();
    for (let i = 0; i < 100; i++) expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    expect(lookup.queries).toBe(1);
  });

  test('is queried once for many concurrent or consecutive requests', async () => {
    const { apiKey } = lookup.addKey();
    const gate = createGate();
    lookup.gate = gate.opened;
    const waiting = Array.from({ length: 500 }, async () => verifier.verifyApiKey(apiKey));
    await turn();
    expect(lookup.queries).toBe(1);
    gate.open();
    const principals = await Promise.all(waiting);
    expect(principals.every((principal) => principal?.userId === member.userId)).toBe(true);
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    expect(lookup.queries).toBe(1);
  });

  test('that is revoked is rejected within 10 s, even under constant use', async () => {
    const { apiKey, change } = lookup.addKey();
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    change({ revokedAt: new Date() });
    let accepted = 0;
    for (let at = 0; at < 9_500; at += 100) {
      if ((await verifier.verifyApiKey(apiKey)) !== undefined) accepted += 1;
      vi.advanceTimersByTime(100);
    }
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    // Constant use must not extend the caching, and most requests must not cause a query.
    expect(accepted).toBeLessThan(90);
    expect(lookup.queries).toBe(2);
  });

  test('with a slow query is cached no longer than with a fast one', async () => {
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

  test('that is created after a failed lookup is accepted within 10 s', async () => {
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
    expect(lookup.queries).toBe(1);
  });

  test('is rejected with the error of a failed query, which is not cached', async () => {
    const { apiKey } = lookup.addKey();
    lookup.failure = new Error('failed');
    const outcomes = await Promise.allSettled([verifier.verifyApiKey(apiKey), verifier.verifyApiKey(apiKey)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(verifier.verifyApiKey(apiKey)).rejects.toBe(lookup.failure);
    lookup.failure = undefined;
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
  });

  test.each([
    ['unknown keys', () => generateApiKey().apiKey],
    ['keys of another workspace', () => lookup.addKey({ workspaceId: 'other' }).apiKey],
  ])('is verified from the cache after many %s', async (_name, newKey) => {
    const { apiKey } = lookup.addKey();
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    await Promise.all(Array.from({ length: 10_500 }, async () => verifier.verifyApiKey(newKey())));
    expect(lookup.queries).toBe(10_501);
    expect(await verifier.verifyApiKey(apiKey)).toBeDefined();
    expect(lookup.queries).toBe(10_501);
  });
});

describe('while the database is unavailable, with stale keys', () => {
  const minute = 60_000;
  let snapshotKey: Found | undefined;

  beforeEach(() => {
    snapshotKey = undefined;
    verifier = new CredentialVerifier(lookup, {
      database: new DatabaseHealth({ timeoutMs: 2_000 }),
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

  test('a revoked key stays rejected', async () => {
    const { apiKey } = lookup.addKey({ revokedAt: new Date() });
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
    lookup.failure = new LeadsError('unavailable');
    vi.advanceTimersByTime(minute);
    expect(await verifier.verifyApiKey(apiKey)).toBeUndefined();
  });

  test('an unknown key fails with unavailable, and a malformed one is rejected', async () => {
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
  /** A codec that accepts any JSON text, because signatures are not tested here. */
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

  test('of the same user and workspace is valid, and is queried once', async () => {
    const { token, row } = addToken();
    expect(await Promise.all([verify(token), verify(token)])).toEqual([row.id, row.id]);
    expect(await verify(token)).toBe(row.id);
    expect(lookup.queries).toBe(1);
  });

  test('with an invalid signature or malformed claims is rejected without a query', async () => {
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
    expect(lookup.queries).toBe(0);
  });

  test('without a row, or with the row of another member, is rejected', async () => {
    expect(
      await verify(tokenOf({ sub: member.userId, ws: member.workspaceId, jti: newId() })),
    ).toBeUndefined();
    expect(await verify(addToken({ userId: newId() }).token)).toBeUndefined();
    expect(await verify(addToken({ workspaceId: newId() }).token)).toBeUndefined();
  });

  test('that is revoked is rejected within 10 s', async () => {
    const { token, row } = addToken();
    expect(await verify(token)).toBeDefined();
    lookup.tokens.set(row.id, { ...row, revokedAt: new Date() });
    for (let at = 0; at < 95; at++) {
      vi.advanceTimersByTime(100);
      await verify(token);
    }
    expect(await verify(token)).toBeUndefined();
    expect(lookup.queries).toBe(2);
  });

  test('has its signature verified once in 10 s, and not after it has expired', async () => {
    const { row } = addToken();
    const exp = Math.floor(Date.now() / 1_000) + 12;
    const token = tokenOf({ sub: member.userId, ws: member.workspaceId, jti: row.id, exp });
    let verified = 0;
    const counting: AccessTokenCodec = {
      ...codec,
      verify(sent) {
        verified += 1;
        return Date.now() < exp * 1_000 ? codec.verify(sent) : undefined;
      },
    };
    const verifyCounted = () => verifier.verifyAccessToken(counting, token, principal);
    for (const [afterMs, times] of [
      [0, 1],
      [9_000, 1],
      [1_100, 2],
    ] as const) {
      vi.advanceTimersByTime(afterMs);
      expect([await verifyCounted(), verified]).toEqual([row.id, times]);
    }
    vi.advanceTimersByTime(2_000);
    expect([await verifyCounted(), verified]).toEqual([undefined, 3]);
  });

  test('expires with its row', async () => {
    const { token } = addToken({ expiresAt: new Date(Date.now() + 500) });
    expect(await verify(token)).toBeDefined();
    vi.advanceTimersByTime(500);
    expect(await verify(token)).toBeUndefined();
  });
});

describe('unknown API keys of one address', () => {
  const address = '2001:db8::1';
  const unknown = (from = address) => verifier.verifyApiKey(generateApiKey().apiKey, () => from);
  const tooMany = { code: 'too_many_requests', retryAfterSeconds: 20 };
  beforeEach(() => {
    verifier = new CredentialVerifier(lookup, undefined, createRateLimit(3));
  });

  test('are rejected without a lookup beyond the limit, and other addresses are not affected', async () => {
    for (let index = 0; index < 3; index++) expect(await unknown()).toBeUndefined();
    expect(() => unknown()).toThrow(expect.objectContaining(tooMany));
    // One client holds all addresses of the block.
    expect(() => unknown('2001:db8::ffff')).toThrow(expect.objectContaining(tooMany));
    expect(lookup.queries).toBe(3);
    expect(await unknown('2001:db8:0:1::1')).toBeUndefined();
    vi.advanceTimersByTime(20_000);
    expect(await unknown()).toBeUndefined();
  });

  test('do not include valid keys, however many requests arrive before their first lookup ends', async () => {
    const gate = createGate();
    lookup.gate = gate.opened;
    const keys = Array.from({ length: 10 }, () => lookup.addKey().apiKey);
    const waiting = keys.flatMap((key) => [1, 2].map(async () => verifier.verifyApiKey(key, () => address)));
    gate.open();
    for (const principal of await Promise.all(waiting)) expect(principal).toBeDefined();
  });

  test('count once if the same key arrives several times at once', async () => {
    const { apiKey } = generateApiKey();
    await Promise.all([1, 2, 3, 4, 5].map(async () => verifier.verifyApiKey(apiKey, () => address)));
    expect(await unknown()).toBeUndefined();
  });

  test('do not affect keys that were found before, after their cached answer has expired', async () => {
    const { apiKey } = lookup.addKey();
    expect(await verifier.verifyApiKey(apiKey, () => address)).toBeDefined();
    for (let index = 0; index < 3; index++) await unknown();
    vi.advanceTimersByTime(10_000);
    expect(await verifier.verifyApiKey(apiKey, () => address)).toBeDefined();
    expect(lookup.queries).toBe(5);
  });

  test('exclude keys that are found, and lookups that fail', async () => {
    for (let index = 0; index < 10; index++) {
      expect(await verifier.verifyApiKey(lookup.addKey().apiKey, () => address)).toBeDefined();
    }
    lookup.failure = new Error('failed');
    for (let index = 0; index < 10; index++) await expect(unknown()).rejects.toBe(lookup.failure);
    lookup.failure = undefined;
    expect(await unknown()).toBeUndefined();
  });
});
