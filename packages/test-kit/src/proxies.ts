import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { provideProgram, unpackedDirectory } from '@leads/local-stack/processes/debian-package';
import { freePort } from '@leads/local-stack/processes/free-port';
import { signalProcess } from '@leads/local-stack/processes/process-identity';
import type { ServiceName } from '@leads/local-stack/processes/services';
import { repositoryRoot } from '@leads/local-stack/repository';

/** A proxy in front of both services, configured as `docker/proxies` has it. */
export interface LocalProxy extends AsyncDisposable {
  /** Where each service is reached, on 127.0.0.1. */
  readonly ports: Readonly<Record<ServiceName, number>>;
}

interface Proxy {
  /** In `docker/proxies`. */
  readonly file: string;
  /** Of Debian 12, where the program is not installed: not every machine has the libraries. */
  readonly packages: readonly string[];
  readonly program: string;
  readonly args: (file: string, directory: string) => readonly string[];
  /** What the file is part of. */
  readonly wrap?: (text: string, directory: string) => string;
}

export const proxies = {
  nginx: {
    file: 'nginx.conf',
    packages: ['nginx'],
    program: 'usr/sbin/nginx',
    args: (file, directory) => ['-c', file, '-p', directory, '-e', join(directory, 'error.log')],
    wrap: (text, directory) => `
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      daemon off;
      worker_processes 1;
      pid ${directory}/nginx.pid;
      error_log ${directory}/error.log warn;
      events {}
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
    // It would listen on a port that is always the same.
    wrap: (text) => text.replace('{\n', '{\n\tadmin off\n'),
  },
} as const satisfies Record<string, Proxy>;

export type ProxyName = keyof typeof proxies;

const readyTimeoutMs = 30_000;

/**
 * Starts a proxy, with addresses and ports of its configuration replaced, and waits until requests get through to both
 * services. Where the program is not installed Debian's is unpacked.
 *
 * @param options.directory for what it writes; made where it is not there.
 * @param options.upstreams the ports of 127.0.0.1 at which the services listen.
 * @throws Error with what it wrote, when it does not start.
 */
export async function startProxy(
  name: ProxyName,
  options: { directory: string; upstreams: Readonly<Record<ServiceName, number>> },
): Promise<LocalProxy> {
  const { directory, upstreams } = options;
  const { file, packages, program, args, wrap }: Proxy = proxies[name];
  const binary = await provideProgram(program, packages);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const ports = { crm: await freePort(), intake: await freePort() };
  let text = readFileSync(join(repositoryRoot, 'docker/proxies', file), 'utf8');
  for (const [from, to] of [
    ['crm:3000', `127.0.0.1:${upstreams.crm}`],
    ['intake:3001', `127.0.0.1:${upstreams.intake}`],
    ['listen 8080', `listen 127.0.0.1:${ports.crm}`],
    ['listen 8081', `listen 127.0.0.1:${ports.intake}`],
    ['bind :8080', `bind 127.0.0.1:${ports.crm}`],
    ['bind :8081', `bind 127.0.0.1:${ports.intake}`],
    ['http://:8080', `http://:${ports.crm}`],
    ['http://:8081', `http://:${ports.intake}`],
  ] as const) {
    text = text.replaceAll(from, to);
  }
  const configFile = join(directory, file);
  writeFileSync(configFile, wrap === undefined ? text : wrap(text, directory), { mode: 0o600 });
  const logFile = join(directory, 'output.log');
  const log = openSync(logFile, 'w', 0o600);
  const child = spawn(binary, args(configFile, directory), {
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'],
      LD_LIBRARY_PATH: join(unpackedDirectory(name), 'usr/lib/x86_64-linux-gnu'),
      XDG_CONFIG_HOME: directory,
      XDG_DATA_HOME: directory,
    },
  });
  closeSync(log);
  let running = true;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  }).then(() => {
    running = false;
  });
  const end = () => {
    if (running && child.pid !== undefined) signalProcess(child.pid, 'SIGTERM');
  };
  process.once('exit', end);
  const stop = async () => {
    end();
    await exited;
    process.off('exit', end);
  };
  const deadline = Date.now() + readyTimeoutMs;
  for (const port of Object.values(ports)) {
    while (!(await letsThrough(port))) {
      await Promise.race([exited, sleep(50)]);
      if (running && Date.now() < deadline) continue;
      await stop();
      throw new Error(`${name} does not start: ${readFileSync(logFile, 'utf8').trim().slice(-1_000)}`);
    }
  }
  return { ports, [Symbol.asyncDispose]: stop };
}

async function letsThrough(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`, {
      signal: AbortSignal.timeout(2_000),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
