import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';
import { provideProgram, unpackedDirectory } from './debian-package.ts';
import { freePort } from './free-port.ts';
import type { ServiceName } from './services.ts';
import { startProcess } from './supervisor.ts';
import { acceptsConnections } from './accepts-connections.ts';

/** A proxy in front of instances of both services, configured by the file of `docker/proxies`. */
export interface LocalProxy extends AsyncDisposable {
  /** The port on 127.0.0.1 that the proxy listens on, for each service. */
  readonly ports: Readonly<Record<ServiceName, number>>;
  /** Returns the proxy's error log. */
  output(): string;
}

interface Proxy {
  /** The file name in `docker/proxies`. */
  readonly file: string;
  /** The packages of Debian 12 with the program and with libraries that may be missing on the machine. */
  readonly packages: readonly string[];
  readonly program: string;
  readonly args: (file: string, directory: string) => readonly string[];
  /** Completes the file to a whole configuration. */
  readonly wrap?: (text: string, directory: string) => string;
}

/** As root, nginx runs its workers as another account by default, which cannot enter the directory. */
const isRoot = process.getuid?.() === 0;

/** The address of each service in the files, and the port that the proxy listens on. */
const addresses = [
  { service: 'crm', address: 'crm:3000', port: 8080 },
  { service: 'intake', address: 'intake:3001', port: 8081 },
] as const;

export const proxies = {
  nginx: {
    file: 'nginx.conf',
    packages: ['nginx'],
    program: 'usr/sbin/nginx',
    args: (file, directory) => ['-c', file, '-p', directory, '-e', 'stderr'],
    wrap: (text, directory) => `
      ${isRoot ? 'user root;' : ''}
      daemon off;
      worker_processes 1;
      pid ${directory}/nginx.pid;
      error_log stderr warn;
      events { worker_connections 4096; }
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join('\n')}
        ${text}
      }`,
  },
  haproxy: {
    file: 'haproxy.cfg',
    packages: ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
    program: 'usr/sbin/haproxy',
    args: (file) => ['-db', '-f', file],
  },
  caddy: {
    file: 'Caddyfile',
    packages: ['caddy'],
    program: 'usr/bin/caddy',
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    // The admin API would listen on a fixed port.
    wrap: (text) => text.replace('{\n', '{\n\tadmin off\n'),
  },
} as const satisfies Record<string, Proxy>;

export type ProxyName = keyof typeof proxies;

/** It only ends starts that hang, also on a busy machine. */
const readyTimeoutMs = 120_000;

/**
 * Starts a proxy and waits until it takes connections. If the program is not installed, the Debian package is
 * unpacked.
 *
 * @param options.directory for the files of the proxy; created if it does not exist.
 * @param options.upstreams the ports on 127.0.0.1 of the instances of each service; only nginx takes several.
 * @throws ProcessStartError
 */
export async function startProxy(
  name: ProxyName,
  options: { directory: string; upstreams: Readonly<Record<ServiceName, readonly number[]>> },
): Promise<LocalProxy> {
  const { directory, upstreams } = options;
  const { file, packages, program, args, wrap }: Proxy = proxies[name];
  const binary = await provideProgram(program, packages);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const ports = { crm: await freePort(), intake: await freePort() };
  const text = replaceAddresses(
    readFileSync(join(repositoryRoot, 'docker/proxies', file), 'utf8'),
    ports,
    upstreams,
  );
  const configFile = join(directory, file);
  writeFileSync(configFile, wrap === undefined ? text : wrap(text, directory), { mode: 0o600 });
  const proxy = startProcess({
    name,
    file: binary,
    args: args(configFile, directory),
    env: {
      PATH: process.env['PATH'],
      LD_LIBRARY_PATH: join(unpackedDirectory(name), 'usr/lib/x86_64-linux-gnu'),
      XDG_CONFIG_HOME: directory,
      XDG_DATA_HOME: directory,
    },
  });
  const isReady = async () => (await acceptsConnections(ports.crm)) && acceptsConnections(ports.intake);
  await proxy.waitUntilReady(isReady, readyTimeoutMs);
  return { ports, output: () => proxy.output(), [Symbol.asyncDispose]: () => proxy.stop() };
}

/** Replaces the addresses that users replace. A line with the address of a service is repeated for each instance. */
function replaceAddresses(
  configuration: string,
  ports: Readonly<Record<ServiceName, number>>,
  upstreams: Readonly<Record<ServiceName, readonly number[]>>,
): string {
  let lines = configuration.split('\n');
  for (const { service, address, port } of addresses) {
    lines = lines
      .flatMap((line) =>
        line.includes(address)
          ? upstreams[service].map((instance) => line.replace(address, `127.0.0.1:${instance}`))
          : [line],
      )
      .map((line) =>
        line
          .replace(`listen ${port}`, `listen 127.0.0.1:${ports[service]}`)
          .replace(`bind :${port}`, `bind 127.0.0.1:${ports[service]}`)
          .replace(`http://:${port}`, `http://:${ports[service]}`),
      );
  }
  return lines.join('\n');
}
