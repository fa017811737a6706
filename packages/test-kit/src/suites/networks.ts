import { type ApiKeyScope, generateApiKey } from '@leads/core/credential';
import { describe, expect, test } from 'vitest';
import type { ServiceFixture } from '../running-service.ts';

const forbidden = {
  success: false,
  error: 'unauthorized',
  message: 'This API key is bound to other networks',
};

/**
 * Tests that a service accepts an API key only from the networks that the key is bound to.
 *
 * @param proxied a service with `TRUST_PROXY=loopback` and a rate limit.
 * @param direct a service without a trusted proxy.
 * @param request a request that creates a lead.
 */
export function describeNetworks(
  proxied: ServiceFixture,
  direct: ServiceFixture,
  request: { readonly path: string; readonly body: object },
): void {
  const createMember = async (
    { fixture }: ServiceFixture,
    allowedNetworks: readonly string[],
    scope: ApiKeyScope = 'full',
  ) => (await fixture.createWorkspace()).addMember('owner', { allowedNetworks, scope });
  const send = (
    { service }: ServiceFixture,
    { headers }: { readonly headers: Readonly<Record<string, string>> },
    from?: string,
  ) => {
    const forwarded = from === undefined ? {} : { 'X-Forwarded-For': from };
    return service.send({ method: 'POST', ...request, headers: { ...headers, ...forwarded } });
  };

  describe('an API key that is bound to networks', () => {
    test('is accepted only from them, by the address that the trusted proxy forwards', async () => {
      const member = await createMember(proxied, ['203.0.113.0/24', '2001:db8:1::/48']);
      const accepted = ['203.0.113.7', '::ffff:203.0.113.7', '::FFFF:cb00:7107', '2001:db8:1::9'];
      for (const from of [...accepted, '198.51.100.1, 203.0.113.7']) {
        expect([from, (await send(proxied, member, from)).status]).toEqual([from, 200]);
      }
      const refused = ['203.0.114.7', '::ffff:203.0.114.7', '2001:db8:2::9', '203.0.113.7, 198.51.100.1'];
      for (const from of [...refused, 'unknown', undefined]) {
        const answer = await send(proxied, member, from);
        expect([from, answer.status, answer.json()]).toEqual([from, 403, forbidden]);
        // A stolen key cannot use up the quota of its owner.
        expect(answer.headers['ratelimit']).toBeUndefined();
      }
    });

    test('is accepted by the address of the connection if no proxy is trusted', async () => {
      const local = await createMember(direct, ['127.0.0.1', '::1']);
      expect((await send(direct, local, '198.51.100.1')).status).toBe(200);
      const elsewhere = await createMember(direct, ['203.0.113.7']);
      expect((await send(direct, elsewhere, '203.0.113.7')).status).toBe(403);
    });

    test('is refused with problem details if the client asks for them', async () => {
      const { headers } = await createMember(proxied, ['203.0.113.7']);
      const asking = { headers: { ...headers, Accept: 'application/problem+json' } };
      expect((await send(proxied, asking, '198.51.100.1')).json()).toMatchObject({
        type: 'urn:leads:error:forbidden',
        status: 403,
        detail: forbidden.message,
      });
    });

    test('is 401 from every address once it is revoked or expired, as an unknown key is', async () => {
      const { fixture } = proxied;
      const revoked = await createMember(proxied, ['203.0.113.7']);
      const expired = await createMember(proxied, ['203.0.113.7']);
      await fixture.credentials.revokeApiKey(revoked.workspaceId, revoked.apiKeyId, new Date());
      await fixture.sql(
        `UPDATE api_key SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 second'
         WHERE id = $1`,
        [expired.apiKeyId],
      );
      const unknown = { headers: { ...expired.headers, API_KEY: generateApiKey().apiKey } };
      for (const member of [revoked, expired, unknown]) {
        for (const from of ['203.0.113.7', '198.51.100.1']) {
          expect((await send(proxied, member, from)).status).toBe(401);
        }
      }
    });

    test('is refused for its address before a missing scope is named', async () => {
      const member = await createMember(proxied, ['203.0.113.7'], ['events']);
      expect((await send(proxied, member, '198.51.100.1')).json()).toEqual(forbidden);
      expect((await send(proxied, member, '203.0.113.7')).json()).toMatchObject({
        message: 'This API key does not have the scope leads:write',
      });
    });
  });
}
