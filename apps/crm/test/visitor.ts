import { randomUUID } from 'node:crypto';
import type { MemberRole } from '@leads/core/credential';
import { password, type TestMember, type TestWorkspace } from '@leads/test-kit/fixture';
import type { Answer } from '@leads/test-kit/http-client';
import type { RunningService } from '@leads/test-kit/running-service';
import { totp } from '@leads/test-kit/totp';

export { password } from '@leads/test-kit/fixture';

/** A browser from the service's view: it sends cookies and the origin of the website. */
export class Visitor {
  readonly #service: RunningService;
  readonly #cookies = new Map<string, string>();
  /** The Set-Cookie headers of the last answer. */
  setCookies: readonly string[] = [];

  constructor(service: RunningService) {
    this.#service = service;
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  /** @param path the path below `/api`. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.#service.send({
      method,
      path: `/api${path}`,
      headers: {
        Origin: `http://127.0.0.1:${this.#service.port}`,
        ...(cookie !== '' && { Cookie: cookie }),
        ...headers,
      },
      body,
    });
    this.setCookies = answer.headers['set-cookie'] ?? [];
    for (const line of this.setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0\b/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', `/console${path}`);
  }

  account(path: string, body: object = {}): Promise<Answer> {
    return this.send('POST', `/auth${path}`, body);
  }

  signUp(email: string = `${randomUUID()}@example.com`): Promise<Answer> {
    return this.account('/sign-up/email', { name: 'Test Person', email, password });
  }

  signIn(email: string, secret: string = password): Promise<Answer> {
    return this.account('/sign-in/email', { email, password: secret });
  }

  /** Adds a second factor. @returns its secret, the code that confirmed it, and the recovery codes. */
  async addSecondFactor(): Promise<{ secret: string; code: string; backupCodes: string[] }> {
    const enabled = await this.account('/two-factor/enable', { password });
    const { totpURI, backupCodes } = enabled.json<{ totpURI: string; backupCodes: string[] }>();
    const secret = new URL(totpURI).searchParams.get('secret') ?? '';
    const code = totp(secret);
    const { status, text } = await this.account('/two-factor/verify-totp', { code });
    if (status !== 200) throw new Error(`The second factor is not confirmed: ${status} ${text}`);
    return { secret, code, backupCodes };
  }
}

/** Signs in a new user as a member of a workspace. */
export async function signInAs(
  service: RunningService,
  workspace: TestWorkspace,
  role: MemberRole,
): Promise<{ visitor: Visitor; member: TestMember }> {
  const visitor = new Visitor(service);
  const email = `${randomUUID()}@example.com`;
  await visitor.signUp(email);
  const member = await workspace.addMember(role, { email });
  await visitor.account('/organization/set-active', { organizationId: workspace.id });
  return { visitor, member };
}
