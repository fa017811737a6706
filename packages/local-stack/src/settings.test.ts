import { once } from 'node:events';
import { createServer } from 'node:net';
import type { TestPostgres } from '@leads/core/testing/database';
import { expect, inject, test } from 'vitest';
import { connectToDatabase } from './database.ts';
import { freePort } from './processes/free-port.ts';
import { checkPorts, readSettings } from './settings.ts';

test.each([
  [{ CRM_PORT: 'http' }, 'CRM_PORT is not a port: http'],
  [{ INTAKE_PORT: '70000' }, 'INTAKE_PORT is not a port: 70000'],
  [{ CRM_PORT: '4000', INTAKE_PORT: '4000' }, 'CRM_PORT and INTAKE_PORT are both 4000'],
  [{ JWT_SECRET: 'too short' }, 'JWT_SECRET must have at least 32 characters'],
])('readSettings() rejects %j in one line', (env, line) => {
  expect(() => readSettings(env)).toThrow(new Error(line));
});

test('checkPorts() names the port in use and the variable that sets another', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const free = await freePort();
  await expect(checkPorts({ crm: port, intake: free }, {})).rejects.toThrow(
    `Port ${port} is in use: end the program that listens on it, or set another port with CRM_PORT`,
  );
  await expect(checkPorts({ crm: free, intake: port }, {})).rejects.toThrow('INTAKE_PORT');
  server.close();
  await once(server, 'close');
  await expect(checkPorts({ crm: port, intake: free }, {})).resolves.toBeUndefined();
});

test('connectToDatabase() rejects an unusable URL in one line, without the password', async () => {
  const { adminUrl }: TestPostgres = inject('postgres');
  const changedUrl = (change: (url: URL) => void) => {
    const url = new URL(adminUrl);
    change(url);
    return url.href;
  };
  const unusedPort = await freePort();
  const cases: [string, RegExp][] = [
    ['nonsense', /^DATABASE_URL is not of the form postgresql:[^\n]+$/],
    ['mysql://user:secret@127.0.0.1/leads', /^DATABASE_URL is not of the form postgresql:[^\n]+$/],
    [
      changedUrl((url) => (url.port = String(unusedPort))),
      /^DATABASE_URL does not work: no server listens on 127.0.0.1:\d+$/,
    ],
    [
      changedUrl((url) => (url.password = 'secret')),
      /^DATABASE_URL does not work: .* rejects the user or the password[^\n]+$/,
    ],
    [
      changedUrl((url) => (url.pathname = 'absent')),
      /^DATABASE_URL does not work: the database does not exist on .*absent[^\n]+$/,
    ],
  ];
  for (const [url, line] of cases) {
    const error: unknown = await connectToDatabase(url).catch((reason: unknown) => reason);
    expect((error as Error).message).toMatch(line);
    expect((error as Error).message).not.toContain('secret');
  }
});
