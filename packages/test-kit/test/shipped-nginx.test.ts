import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request as requestPlain,
  type Server,
} from 'node:http';
import { request as requestTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { provideProgram } from '@leads/local-stack/processes/debian-package';
import { freePort } from '@leads/local-stack/processes/free-port';
import { startProcess } from '@leads/local-stack/processes/supervisor';
import { repositoryRoot } from '@leads/local-stack/repository';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'leads-shipped-nginx-'));
const readDocker = (file: string) => readFileSync(join(repositoryRoot, 'docker', file), 'utf8');
/** Services that answer every request with its path and scheme, and with headers that the proxy must not repeat. */
const upstreams: Server[] = [];

beforeAll(async () => {
  for (const _ of ['crm', 'intake']) {
    const server = createServer((request, response) => {
      request.resume();
      const headers = {
        'Strict-Transport-Security': 'max-age=1',
        'Retry-After': '7',
        'Received-Scheme': request.headers['x-forwarded-proto'] ?? 'none',
      };
      response.writeHead(request.url === '/busy' ? 429 : 200, headers).end(request.url);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    upstreams.push(server);
  }
  execFileSync(
    'openssl',
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -keyout tls.key -out tls.crt'.split(
      ' ',
    ),
    { cwd: directory, stdio: 'ignore' },
  );
});
afterAll(() => {
  for (const server of upstreams) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(directory, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts nginx with the shipped files, without what only a container has and what nginx 1.22 does not support. */
async function startShipped(mode: 'tls' | 'plain', changes: Readonly<Record<string, string>> = {}) {
  const own = mkdtempSync(join(directory, `${mode}-`));
  const ports = { crm: await freePort(), intake: await freePort(), live: await freePort() };
  const [crm, intake] = upstreams.map((server) => (server.address() as AddressInfo).port);
  const replacements: Readonly<Record<string, string>> = {
    ...changes,
    '/tmp/': `${own}/`,
    'server crm:3000 resolve': `server 127.0.0.1:${crm}`,
    'server intake:3001 resolve': `server 127.0.0.1:${intake}`,
    'resolver 127.0.0.11 valid=2s ipv6=off;': '',
    'listen 3000': `listen 127.0.0.1:${ports.crm}`,
    'listen 3001': `listen 127.0.0.1:${ports.intake}`,
    'listen 127.0.0.1:8080': `listen 127.0.0.1:${ports.live}`,
    ...(mode === 'tls' && { '/etc/nginx/tls/': `${directory}/`, 'http2 on;': '' }),
    'access_log /dev/stdout': `access_log ${own}/access.log`,
    'worker_processes auto;': `worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''}`,
  };
  const included = readDocker('nginx.conf').replaceAll(
    /include \/etc\/nginx\/listen\/(\w+\.conf);/g,
    (_, file: string) => readDocker(`nginx/${mode}/${file}`),
  );
  const settings = Object.entries(replacements).reduce((whole, [from, to]) => {
    expect(whole).toContain(from);
    return whole.replaceAll(from, to);
  }, included);
  const configuration = join(own, 'nginx.conf');
  writeFileSync(configuration, settings);
  const nginx = startProcess({
    name: 'nginx',
    file: await provideProgram('usr/sbin/nginx'),
    args: ['-c', configuration, '-p', own, '-e', 'stderr', '-g', 'daemon off;'],
  });

  const send = (
    service: 'crm' | 'intake' | 'live',
    path: string,
    { isTls = mode === 'tls', headers: added = {} }: { isTls?: boolean; headers?: OutgoingHttpHeaders } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = isTls && service !== 'live' ? requestTls : requestPlain;
      const target = { host: '127.0.0.1', port: ports[service], path, rejectUnauthorized: false };
      request({ ...target, agent: false, headers: { Host: 'leads.example', ...added } })
        .on('response', (response) => {
          const { statusCode: status, headers } = response;
          text(response).then((body) => resolve({ status, headers, body }), reject);
        })
        .on('error', reject)
        .end();
    });
  await nginx.waitUntilReady(
    () =>
      send('live', '/').then(
        ({ status }) => status === 204,
        () => false,
      ),
    30_000,
  );
  return {
    send,
    accessLog: () => readFileSync(join(own, 'access.log'), 'utf8'),
    [Symbol.asyncDispose]: () => nginx.stop(),
  };
}

test('with TLS, both services are served by HTTPS only, and every response has one HSTS header', async () => {
  await using nginx = await startShipped('tls');
  for (const service of ['crm', 'intake'] as const) {
    for (const [path, status] of [
      ['/x', 200],
      ['/metrics', 404],
    ] as const) {
      const answer = await nginx.send(service, path);
      expect([answer.status, answer.headers['strict-transport-security']]).toEqual([
        status,
        'max-age=31536000',
      ]);
    }
    const plain = await nginx.send(service, '/x?y=z', { isTls: false });
    expect([plain.status, plain.headers.location]).toEqual([308, 'https://leads.example/x?y=z']);
  }
});

test('with TLS, services receive https as the scheme, also if a client sends another one', async () => {
  await using nginx = await startShipped('tls');
  for (const service of ['crm', 'intake'] as const) {
    const { headers } = await nginx.send(service, '/x', { headers: { 'X-Forwarded-Proto': 'http' } });
    expect(headers['received-scheme']).toBe('https');
  }
});

describe('behind another proxy,', () => {
  test('services receive the scheme that the other proxy names, and http without one', async () => {
    await using nginx = await startShipped('plain');
    for (const service of ['crm', 'intake'] as const) {
      const https = await nginx.send(service, '/x', { headers: { 'X-Forwarded-Proto': 'https' } });
      const unnamed = await nginx.send(service, '/x');
      const unknown = await nginx.send(service, '/x', { headers: { 'X-Forwarded-Proto': 'other' } });
      const schemes = [https, unnamed, unknown].map(({ headers }) => headers['received-scheme']);
      expect(schemes).toEqual(['https', 'http', 'http']);
    }
  });

  test('metrics are not public, in any encoding of the path', async () => {
    await using nginx = await startShipped('plain');
    for (const path of ['/metrics', '/%6Detrics', '//metrics', '/./metrics', '/x/../metrics?a=b']) {
      for (const service of ['crm', 'intake'] as const) {
        expect([path, (await nginx.send(service, path)).status]).toEqual([path, 404]);
      }
    }
  });

  test('the access log has no queries, no ids of invitations and no tokens of integration pages', async () => {
    await using nginx = await startShipped('plain');
    const secret = 'a-secret-of-a-link';
    const paths = ['/invitations/', '/integration/', '/api/console/integration/', '/api/auth/invitations/'];
    for (const path of paths) await nginx.send('crm', `${path}${secret}`);
    await nginx.send('crm', `/invitations/${secret}/accept?key=${secret}`);
    await nginx.send('crm', `/api/v1/order/leads?q=${secret}`);
    const logged = () => nginx.accessLog().trim().split('\n');
    await vi.waitFor(() => expect(logged()).toHaveLength(6), { timeout: 60_000 });
    expect(nginx.accessLog()).not.toContain(secret);
    expect(logged().map((line) => (JSON.parse(line) as { path: string }).path)).toEqual([
      ...paths.map((path) => `${path}...`),
      '/invitations/.../accept',
      '/api/v1/order/leads',
    ]);
  });

  test('requests of one address beyond the limit are answered with 429 and Retry-After', async () => {
    // With a low rate, the result does not depend on the duration of the test.
    await using nginx = await startShipped('plain', {
      'rate=100r/s': 'rate=1r/m',
      'rate=200r/s': 'rate=1r/m',
      'burst=500': 'burst=1',
      'burst=1000': 'burst=1',
    });
    for (const service of ['crm', 'intake'] as const) {
      const answers = [];
      for (let count = 0; count < 4; count++) answers.push(await nginx.send(service, '/x'));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
      const { headers, body } = answers.at(-1) ?? { headers: {}, body: '' };
      expect(headers['retry-after']).toBe('1');
      expect(JSON.parse(body)).toEqual({
        success: false,
        error: 'error',
        message: 'Too many requests: try again later',
      });
    }
  });

  test('the Retry-After of a service is kept', async () => {
    await using nginx = await startShipped('plain');
    const { status, headers } = await nginx.send('crm', '/busy');
    expect([status, headers['retry-after']]).toEqual([429, '7']);
  });
});
