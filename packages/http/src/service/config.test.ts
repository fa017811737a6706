import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from 'typebox';
import { afterAll, expect, test } from 'vitest';
import { ConfigError, commonSettings, loadConfig, secretsOf } from './config.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-config-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const Settings = Type.Object({
  DATABASE_URL: commonSettings.DATABASE_URL,
  NATS_URL: commonSettings.NATS_URL,
  METRICS_TOKEN: commonSettings.METRICS_TOKEN,
  TRUST_PROXY: commonSettings.TRUST_PROXY,
  SERVED_HOSTS: commonSettings.SERVED_HOSTS,
  PORT: Type.Integer({ default: 80 }),
});
const database = 'postgresql://leads:hidden-word@db/leads';

/** Returns the errors of a configuration; an empty array if it is valid. */
function faultsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(Settings, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}

test('every secret can be read from a file, without its last line break', () => {
  expect(secretsOf(Settings)).toEqual(['DATABASE_URL', 'NATS_URL', 'METRICS_TOKEN']);
  const settings = loadConfig(Settings, {
    DATABASE_URL_FILE: file('database', `${database}\n`),
    NATS_URL_FILE: file('nats', 'nats://crm:hidden-word@nats:4222\r\n'),
    METRICS_TOKEN_FILE: file('token', 'x'.repeat(16)),
  });
  expect(settings).toEqual({
    DATABASE_URL: database,
    NATS_URL: 'nats://crm:hidden-word@nats:4222',
    METRICS_TOKEN: 'x'.repeat(16),
    TRUST_PROXY: '',
    SERVED_HOSTS: '',
    PORT: 80,
  });
});

test('only the last line break of a secret file is removed', () => {
  const Secret = Type.Object({ KEY: Type.String({ secret: true }) });
  expect(loadConfig(Secret, { KEY_FILE: file('key', ' a\nb \n\n') })).toEqual({ KEY: ' a\nb \n' });
});

test('a setting that is not a secret cannot be read from a file', () => {
  expect(loadConfig(Settings, { DATABASE_URL: database, PORT_FILE: file('port', '81') }).PORT).toBe(80);
});

test('an empty variable counts as absent, also one that names a file', () => {
  expect(faultsOf({ DATABASE_URL: database, DATABASE_URL_FILE: '' })).toEqual([]);
  expect(faultsOf({ DATABASE_URL: '', DATABASE_URL_FILE: file('database', database) })).toEqual([]);
});

test('loadConfig reports all errors at once, one for each setting, with the name of its variable', () => {
  const faults = faultsOf({
    DATABASE_URL: database,
    DATABASE_URL_FILE: file('both', 'hidden-word'),
    NATS_URL_FILE: join(directory, 'hidden-word'),
    METRICS_TOKEN_FILE: file('wrong', 'hidden-word'),
    TRUST_PROXY: '10.0.0.0/33',
    PORT: 'hidden-word',
  });
  const expected = [
    /^DATABASE_URL_FILE and DATABASE_URL are both set/,
    /^NATS_URL_FILE cannot be read: no such file/,
    /^METRICS_TOKEN_FILE must match pattern/,
    /^TRUST_PROXY must be addresses and CIDR ranges/,
    /^PORT must be integer/,
  ];
  expect(faults).toHaveLength(expected.length);
  for (const fault of expected) expect(faults).toContainEqual(expect.stringMatching(fault));
  expect(faults.join('\n')).not.toContain('hidden-word');
});

test.for([
  ['a directory', () => directory, 'cannot be read: it is a directory'],
  ['an empty file', () => file('empty', '\n'), 'names an empty file'],
] as const)('%s is rejected as a secret file', ([, path, reason]) => {
  expect(faultsOf({ DATABASE_URL_FILE: path() })).toEqual([
    expect.stringContaining(`DATABASE_URL_FILE ${reason}`),
  ]);
});

test.for(['DATABASE_CONNECT_TIMEOUT_MS', 'DATABASE_STATEMENT_TIMEOUT_MS'] as const)(
  '%s is at least 100, because with 0 every transaction fails',
  (name) => {
    const Timeout = Type.Object({ [name]: commonSettings[name] });
    expect(loadConfig(Timeout, { [name]: '100' })).toEqual({ [name]: 100 });
    for (const ms of ['0', '99']) {
      expect(() => loadConfig(Timeout, { [name]: ms })).toThrow(`${name} must be >= 100`);
    }
  },
);

test('a missing file of an optional secret is an error, because a wrong path would silently switch it off', () => {
  for (const name of ['NATS_URL', 'METRICS_TOKEN']) {
    expect(faultsOf({ DATABASE_URL: database, [`${name}_FILE`]: join(directory, 'missing') })).toEqual([
      expect.stringContaining(`${name}_FILE cannot be read: no such file`),
    ]);
  }
});

test('a secret file that cannot be read does not hide the error of a setting that it requires', () => {
  const Mail = Type.Object(
    { SMTP_URL: Type.Optional(Type.String({ secret: true })), MAIL_FROM: Type.Optional(Type.String()) },
    { dependencies: { SMTP_URL: ['MAIL_FROM'] } },
  );
  expect(() => loadConfig(Mail, { SMTP_URL_FILE: join(directory, 'absent') })).toThrow(
    'SMTP_URL_FILE cannot be read: no such file\nMAIL_FROM is required with SMTP_URL',
  );
});

test.for([
  ['DATABASE_URL', 'not a URL', 'must match pattern'],
  ['DATABASE_URL', 'postgresql://a:hidden-word#@b/c', 'cannot be parsed; percent-encode'],
  ['DATABASE_URL', 'postgresql://a:hidden-word%@b/c', 'cannot be parsed; percent-encode'],
  ['NATS_URL', 'nats://a:1,nats://b:hidden-word#@c', 'cannot be parsed; percent-encode'],
  ['NATS_URL', 'nats://b:hidden-word%@c', 'cannot be parsed; percent-encode'],
  ['TRUST_PROXY', 'proxy.internal', 'must be addresses'],
  ['TRUST_PROXY', '10.0.0.0/8/8', 'must be addresses'],
  ['TRUST_PROXY', '::1/0', 'must be addresses'],
  ['SERVED_HOSTS', 'leads.example:8443', 'must be host names and addresses without ports'],
  ['SERVED_HOSTS', 'a.example, [2001:db8::1]:80', 'must be host names and addresses without ports'],
  ['SERVED_HOSTS', 'https://leads.example', 'must be host names and addresses without ports'],
  ['SERVED_HOSTS', '2001:db8::1', 'must be host names and addresses without ports'],
] as const)('%s=%s is reported once', ([name, value, reason]) => {
  const faults = faultsOf({ DATABASE_URL: database, [name]: value });
  expect(faults).toEqual([expect.stringContaining(`${name} ${reason}`)]);
  expect(faults[0]).not.toContain('hidden-word');
});

test.for([
  ['DATABASE_URL', 'postgresql://leads@/leads?host=/run/postgresql'],
  ['DATABASE_URL', 'postgres:///leads?host=/run/postgresql'],
  ['NATS_URL', 'nats://a:1,tls://u:p%23@b:2'],
  ['TRUST_PROXY', 'loopback, 10.0.0.0/8,2001:db8::/32, 192.0.2.1'],
  ['SERVED_HOSTS', 'leads.example, 10.0.0.7,[2001:db8::1] , LEADS-2.internal'],
] as const)('%s=%s is valid', ([name, value]) => {
  expect(faultsOf({ DATABASE_URL: database, [name]: value })).toEqual([]);
});
