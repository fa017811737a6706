import type { Crm } from './crm.ts';

/** What every account of these tests signs in with. */
export const password = 'correct horse battery';

/** A browser, as far as the routes of the website are concerned: it keeps cookies and names its page's origin. */
export interface ConsoleClient {
  readonly call: (
    method: string,
    path: string,
    body?: object,
  ) => Promise<{ status: number; body: Record<string, unknown> & readonly Record<string, unknown>[] }>;
}

/** A browser that nobody is signed in to. */
export function openConsole({ service }: Pick<Crm, 'service'>): ConsoleClient {
  const cookies = new Map<string, string>();
  return {
    async call(method, path, body) {
      const response = await fetch(`http://127.0.0.1:${service.port}/api${path}`, {
        method,
        headers: {
          accept: 'application/problem+json, application/json;q=0.9',
          origin: `http://127.0.0.1:${service.port}`,
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        cookies.set(name, value);
      }
      return { status: response.status, body: (await response.json()) as never };
    },
  };
}

/** A browser that a new account is signed in to. */
export async function signUp(crm: Pick<Crm, 'service'>, email: string): Promise<ConsoleClient> {
  const client = openConsole(crm);
  const { status, body } = await client.call('POST', '/auth/sign-up/email', { name: email, email, password });
  if (status !== 200) throw new Error(`Nobody is signed up: ${status} ${JSON.stringify(body)}`);
  return client;
}
