import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { runLeads, startService } from '@leads/test-kit/services';
import { repositoryRoot } from '@leads/local-stack/repository';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { type ShippedNats, startShippedNats } from '../src/shipped-nats.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-compose-tls-'));
const docker = join(repositoryRoot, 'docker');
const secrets = join(directory, 'secrets');
const dataDir = join(directory, 'postgres');
const { services } = parse(readFileSync(join(docker, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<'postgres', { entrypoint: string[]; command: string[] }>;
};

let postgres: LocalPostgres;
let nats: ShippedNats;
let admin: pg.Client;

const read = (name: string) => readFileSync(join(secrets, name), 'utf8').trim();

/** Replaces the paths of the containers. */
const onThisMachine = (text: string) =>
  text
    .replaceAll('/run/secrets/', `${secrets}/`)
    .replaceAll('/run/tls/', `${directory}/tls/`)
    .replaceAll('$$', '$');

/** Starts the server with the settings of the compose file, as its container does. */
async function encryptPostgres(): Promise<void> {
  const { uid, gid } = statSync(dataDir);
  const [shell = '', ...args] = services.postgres.entrypoint.map((text) =>
    onThisMachine(text)
      .replace('-o postgres -g postgres', `-o ${uid} -g ${gid}`)
      .replace('exec docker-entrypoint.sh', 'printf "%s\\n"'),
  );
  const started = execFileSync(shell, [...args, ...services.postgres.command], { encoding: 'utf8' });
  expect(started.trim().split('\n')).toEqual(services.postgres.command);
  expect(statSync(join(directory, 'tls/postgres.key')).mode & 0o777).toBe(0o600);
  for (const option of services.postgres.command.slice(1)) {
    const [, name = '', value = ''] = /^--(\w+)=(.*)$/.exec(onThisMachine(option)) ?? [];
    if (name === 'hba_file') copyFileSync(join(docker, 'postgres/pg_hba.conf'), join(dataDir, 'pg_hba.conf'));
    else await admin.query(`ALTER SYSTEM SET ${pg.escapeIdentifier(name)} = ${pg.escapeLiteral(value)}`);
  }
  await admin.query('SELECT pg_reload_conf()');
}

beforeAll(async () => {
  chmodSync(directory, 0o711);
  mkdirSync(join(directory, 'tls'), { mode: 0o711 });
  copyFileSync(join(docker, 'create-secrets'), join(directory, 'create-secrets'));
  execFileSync(join(directory, 'create-secrets'), { env: { PATH: process.env['PATH'] } });
  // Resolves the names of the containers, and one that is in no certificate.
  writeFileSync(
    join(directory, 'hosts.mjs'),
    `import dns from 'node:dns';
     const { lookup } = dns;
     const names = ['postgres', 'nats', 'another.host'];
     dns.lookup = (name, ...rest) => lookup(names.includes(name) ? '127.0.0.1' : name, ...rest);`,
  );
  [postgres, nats] = await Promise.all([
    startPostgres({ dataDir, durable: false, maxConnections: 60 }),
    startShippedNats({
      dataDir: join(directory, 'nats'),
      passwords: join(secrets, 'nats-passwords'),
      certificate: join(secrets, 'nats'),
    }),
  ]);
  await postgres.createDatabase('leads');
  admin = new pg.Client({ connectionString: postgres.url() });
  await admin.connect();
  await admin.query(`ALTER USER leads PASSWORD ${pg.escapeLiteral(read('postgres-password'))}`);
  await encryptPostgres();
});

afterAll(async () => {
  await admin.end();
  await nats.stop();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns the URL in a secret with the port of this run. */
const urlOf = (name: string) =>
  read(name)
    .replace('@postgres:5432/', `@postgres:${postgres.port}/`)
    .replace('@nats:4222', `@nats:${nats.port}`);

const environment = (settings: Record<string, string>) => ({
  NODE_OPTIONS: `--import=file://${join(directory, 'hosts.mjs')}`,
  NODE_EXTRA_CA_CERTS: join(secrets, 'ca.crt'),
  JWT_SECRET: read('jwt-secret'),
  ...settings,
});
const operator = () =>
  environment({
    DATABASE_URL: urlOf('migrate-database-url'),
    LEADS_CRM_PASSWORD: read('crm-password'),
    LEADS_INTAKE_PASSWORD: read('intake-password'),
    NATS_URL: urlOf('operator-nats-url'),
    NATS_INTAKE_URL: urlOf('intake-operator-nats-url'),
  });

test('the services and the command line connect over TLS, with the URLs and certificates of create-secrets', async () => {
  await runLeads(['migrate'], operator());
  await runLeads(['db', 'grant'], operator());
  await runLeads(['nats', 'setup'], operator());
  const environmentOf = (name: string) =>
    environment({ DATABASE_URL: urlOf(`${name}-database-url`), NATS_URL: urlOf(`${name}-nats-url`) });
  await using _crm = await startService('crm', { env: environmentOf('crm') });
  await using _intake = await startService('intake', { env: environmentOf('intake') });

  const { rows } = await admin.query(
    `SELECT usename AS user, bool_and(ssl) AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE usename LIKE 'leads\\__%' GROUP BY usename ORDER BY usename`,
  );
  expect(rows).toEqual([
    { user: 'leads_crm', encrypted: true },
    { user: 'leads_intake', encrypted: true },
  ]);
  await vi.waitFor(
    async () => {
      const { connections } = (await (await fetch(`${nats.monitoringUrl}/connz?auth=1`)).json()) as {
        connections: { authorized_user: string; tls_version?: string }[];
      };
      const encrypted = connections.map((each) => `${each.authorized_user} ${each.tls_version}`);
      expect(encrypted.toSorted()).toEqual(['crm 1.3', 'intake 1.3']);
    },
    { timeout: 60_000 },
  );
});

test('Postgres and NATS refuse a connection without TLS', async () => {
  for (const name of ['migrate', 'crm', 'intake']) {
    const url = new URL(urlOf(`${name}-database-url`));
    url.hostname = '127.0.0.1';
    url.search = '';
    const client = new pg.Client({ connectionString: url.href });
    await expect(client.connect()).rejects.toThrow(/pg_hba.conf rejects connection .* no encryption/);
  }
  const socket = connect(nats.port, '127.0.0.1');
  const { username, password } = new URL(urlOf('crm-nats-url'));
  socket.write(`CONNECT ${JSON.stringify({ user: username, pass: password, verbose: true })}\r\nPING\r\n`);
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  socket.on('error', () => undefined);
  await once(socket, 'close');
  expect(received).toMatch(/^INFO .*"tls_required":true/);
  expect(received).not.toMatch(/\+OK|PONG/);
});

test('a server with the certificate of another host or another authority is not trusted', async () => {
  const check = async (url: string, env: Record<string, string> = {}) =>
    runLeads(['migrate', '--check'], { ...operator(), DATABASE_URL: url, ...env });
  const url = urlOf('migrate-database-url');
  await expect(check(url)).resolves.toBeDefined();
  await expect(check(url.replace('@postgres:', '@another.host:'))).rejects.toThrow(/certificate|altnames/i);
  await expect(check(url, { NODE_EXTRA_CA_CERTS: '' })).rejects.toThrow(/certificate/);
  await expect(runLeads(['nats', 'setup'], { ...operator(), NODE_EXTRA_CA_CERTS: '' })).rejects.toThrow(
    /NATS/,
  );
});
