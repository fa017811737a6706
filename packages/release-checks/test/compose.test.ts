import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { documentedSettings } from '@leads/test-kit/documents';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseDockerfile } from '../src/images/dockerfile.ts';

interface ComposeService {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: object;
  readonly volumes: object;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const directory = join(repositoryRoot, 'docker');
const text = readFileSync(join(directory, 'compose.yaml'), 'utf8');
const compose = parse(text, { merge: true }) as ComposeFile;
const services = Object.entries(compose.services);
const readers: Readonly<Record<string, string>> = {
  crm: 'CRM',
  deliver: '`leads`',
  intake: 'intake',
  migrate: '`leads`',
  'nats-setup': '`leads`',
};

/** The required variables, written as `${NAME:?...}`. */
const required = [...new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name))];

test('the compose file matches the schema of the compose specification', () => {
  const schema = JSON.parse(
    readFileSync(join(repositoryRoot, 'node_modules/dclint/schemas/compose.schema.json'), 'utf8'),
  ) as { $schema: string };
  // The validator does not support the original form of this address.
  schema.$schema = 'http://json-schema.org/draft-07/schema#';
  const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);

  validate(compose);

  expect(validate.errors ?? []).toEqual([]);
});

test('every file, network and volume that the compose file names exists', () => {
  for (const [name, service] of services) {
    const missing = [
      ...Object.keys(service.depends_on ?? {}).filter((other) => !(other in compose.services)),
      ...service.networks.filter((network) => !(network in compose.networks)),
      ...(service.volumes ?? []).filter((volume) => {
        const [source = ''] = volume.split(':/');
        // The certificate of the operator.
        if (source.includes('TLS_DIRECTORY')) return false;
        const path = source.replace(/\$\{\w+:-(.*?)\}/, '$1');
        return path.startsWith('.') ? !existsSync(join(directory, path)) : !(path in compose.volumes);
      }),
      ...(service.build === undefined ? [] : [service.build]).filter(
        ({ context, dockerfile }) => !existsSync(resolve(directory, context, dockerfile)),
      ),
    ];
    expect(missing, name).toEqual([]);
  }
});

test('every variable of a service is one of its settings', () => {
  for (const [name, reader] of Object.entries(readers)) {
    const known = new Set([...documentedSettings(reader), 'NODE_EXTRA_CA_CERTS']);
    const unknown = Object.keys(compose.services[name]?.environment ?? {}).filter(
      (setting) => !known.has(setting.replace(/_FILE$/, '')),
    );
    expect(unknown, name).toEqual([]);
  }
});

test('no secret is an environment variable, and every file of a secret exists after `docker/create-secrets`', () => {
  const copy = mkdtempSync(join(tmpdir(), 'leads-secrets-'));
  try {
    cpSync(join(directory, 'create-secrets'), join(copy, 'create-secrets'));
    const env = { PATH: process.env['PATH'], JWT_SECRET: 'x'.repeat(40) };
    execFileSync(join(copy, 'create-secrets'), { env });
    const read = (name: string) => readFileSync(join(copy, compose.secrets[name]?.file ?? name), 'utf8');
    const values = new Map(Object.keys(compose.secrets).map((name) => [name, read(name)]));
    expect([...values.values()].filter((value) => value.trim().length < 32)).toEqual([]);
    expect(values.get('jwt-secret')).toBe(`${'x'.repeat(40)}\n`);
    expect(values.get('crm-database-url')).toContain(`leads_crm:${values.get('crm-password')?.trim()}@`);
    // A second run changes nothing.
    execFileSync(join(copy, 'create-secrets'), { env: { ...env, JWT_SECRET: 'y'.repeat(40) } });
    expect(new Map([...values.keys()].map((name) => [name, read(name)]))).toEqual(values);

    // No key of the authority is left.
    expect(readdirSync(join(copy, 'secrets')).toSorted()).toEqual(Object.keys(compose.secrets).toSorted());
    for (const host of ['postgres', 'nats']) {
      const certificate = new X509Certificate(read(`${host}.crt`));
      expect(certificate.checkHost(host)).toBe(host);
      expect(certificate.checkHost('localhost')).toBeUndefined();
      expect(certificate.verify(new X509Certificate(read('ca.crt')).publicKey)).toBe(true);
    }

    // An upgrade, and a renewal of the certificates.
    const path = (name: string) => join(copy, 'secrets', name);
    const replace = (name: string, content: string) => {
      rmSync(path(name));
      writeFileSync(path(name), content);
    };
    const own = 'postgresql://leads_intake:x@postgres.example/leads\n';
    replace('crm-database-url', String(values.get('crm-database-url')).replace('?sslmode=verify-full', ''));
    replace('crm-nats-url', String(values.get('crm-nats-url')).replace('tls:', 'nats:'));
    replace('intake-database-url', own);
    rmSync(path('ca.crt'));
    execFileSync(join(copy, 'create-secrets'), { env });
    for (const name of ['crm-database-url', 'crm-nats-url', 'intake-nats-url', 'nats-passwords']) {
      expect(read(name)).toBe(values.get(name));
    }
    expect(read('intake-database-url')).toBe(own);
    for (const name of ['ca.crt', 'postgres.crt', 'postgres.key', 'nats.crt', 'nats.key']) {
      expect(read(name)).not.toBe(values.get(name));
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }

  for (const [name, service] of services) {
    const environment = Object.entries(service.environment ?? {});
    const files = environment
      .filter(([variable]) => variable.endsWith('_FILE') || variable === 'NODE_EXTRA_CA_CERTS')
      .map(([, path]) => path);
    const options = (service.command ?? []).join(' ') + (service.entrypoint ?? []).join(' ');
    files.push(...(options.match(/\/run\/secrets\/[\w.-]+/g) ?? []));
    const mounted = (service.secrets ?? []).filter((secret) => typeof secret === 'string');
    expect(mounted.map((secret) => `/run/secrets/${secret}`).toSorted(), name).toEqual(files.toSorted());
    // Optional secrets are variables, because a missing file is an error.
    const optional = new Set([
      'SMTP_URL',
      'DATABASE_REPLICA_URL',
      'DELIVERIES_PREVIOUS_SECRET',
      'OTEL_EXPORTER_OTLP_HEADERS',
    ]);
    const secrets = environment.filter(([variable]) =>
      /PASSWORD$|SECRET$|TOKEN$|(DATABASE|NATS)\w*_URL$/.test(variable),
    );
    expect(
      secrets.filter(([variable]) => !optional.has(variable)),
      name,
    ).toEqual([]);
  }
});

test('the file for observability uses secrets of the compose file, and gives no service a secret twice', () => {
  const path = join(directory, 'compose.observability.yaml');
  const added = parse(readFileSync(path, 'utf8')) as ComposeFile;
  for (const [name, { environment = {}, secrets = [] }] of Object.entries(added.services)) {
    const variables = Object.keys({ ...compose.services[name]?.environment, ...environment });
    expect(variables.filter((variable) => variables.includes(`${variable}_FILE`))).toEqual([]);
    expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining([...secrets]));
  }
});

test('every service has limits of memory and processes, and the services have roles of their own', () => {
  for (const [name, { mem_limit, pids_limit }] of services) {
    expect([name, mem_limit, pids_limit]).toEqual([name, expect.any(String), expect.any(Number)]);
  }
  expect(compose.services['migrate']?.command?.join(' ')).toContain('leads migrate && leads db grant');
});

test('the container of deliveries is optional, and serves its health at the port of the health check of its image', () => {
  const { deliver, crm } = compose.services;
  expect(deliver).toMatchObject({ profiles: ['deliver'], image: crm?.image, command: ['leads', 'deliver'] });
  const { stages } = parseDockerfile(readFileSync(join(directory, 'crm.Dockerfile'), 'utf8'));
  const exposed = stages.at(-1)?.steps.find(({ kind }) => kind === 'expose');
  expect(exposed).toMatchObject({ value: deliver?.environment?.['DELIVER_PORT'] });
  expect(crm?.environment).toHaveProperty('CRM_DELIVERIES');
});

test('every service except Postgres has a read-only file system and no capabilities', () => {
  for (const [name, service] of services.filter(([each]) => each !== 'postgres')) {
    expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  }
});

test('the proxy forwards API_KEY, and listens on its published ports', () => {
  const nginx = readFileSync(join(directory, 'nginx.conf'), 'utf8');
  const ports = (compose.services['proxy']?.ports ?? []).map((port) => port.split(':').at(-1));
  expect(nginx).toMatch(/^\s+underscores_in_headers on;$/m);
  for (const mode of ['plain', 'tls']) {
    const listens = ['crm', 'intake'].map((name) =>
      /^listen (\d+)/m.exec(readFileSync(join(directory, `nginx/${mode}/${name}.conf`), 'utf8')),
    );
    expect(listens.map((listen) => listen?.[1])).toEqual(ports);
  }
  for (const name of ['crm', 'intake']) {
    const { stages } = parseDockerfile(readFileSync(join(directory, `${name}.Dockerfile`), 'utf8'));
    const exposed = stages.at(-1)?.steps.find(({ kind }) => kind === 'expose');
    expect(nginx).toContain(
      `server ${name}:${exposed !== undefined && 'value' in exposed ? exposed.value : '?'} `,
    );
  }
});

test('the README names every required variable of the compose file', () => {
  const readme = readFileSync(join(directory, 'README.md'), 'utf8');
  expect(required.filter((name) => !readme.includes(name))).toEqual([]);
});

test('`docker compose config` accepts the file, if the compose plugin is installed', () => {
  if (spawnSync('docker', ['compose', 'version']).status !== 0) {
    console.log('docker compose is not installed: the compose file was checked against its schema only.');
    return;
  }
  const env = { ...process.env, ...Object.fromEntries(required.map((name) => [name, 'x'.repeat(32)])) };
  const printed = execFileSync(
    'docker',
    ['compose', '--file', join(directory, 'compose.yaml'), 'config', '--format', 'json'],
    { env, encoding: 'utf8' },
  );
  const config = JSON.parse(printed) as ComposeFile;
  expect(Object.keys(config.services).toSorted()).toEqual(Object.keys(compose.services).toSorted());
});
