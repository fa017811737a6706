import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '../repository.ts';
import { provideProgram } from './debian-package.ts';
import { freePort } from './free-port.ts';
import { signalProcess } from './process-identity.ts';
import type { ServiceName } from './services.ts';

/** An nginx on 127.0.0.1 in front of instances of both services, configured as `docker/proxies/nginx.conf` has it. */
export interface LocalNginx extends AsyncDisposable {
  /** Where each service is reached. */
  readonly ports: Readonly<Record<ServiceName, number>>;
  /** What it has written to its error log. */
  errors(): string;
}

/** @throws Error that says what to install. */
export const findNginx = (): Promise<string> => provideProgram('usr/sbin/nginx');

/** The configuration that users get, with addresses and ports replaced, which is all that they replace. */
function configure(
  ports: Readonly<Record<ServiceName, number>>,
  upstreams: Readonly<Record<ServiceName, readonly number[]>>,
): string {
  let text = readFileSync(join(repositoryRoot, 'docker/proxies/nginx.conf'), 'utf8');
  const replace = (what: RegExp, by: (found: string[]) => string) => {
    const parts = text.split(what);
    if (parts.length !== 3) throw new Error(`docker/proxies/nginx.conf has no ${what.source}, or several`);
    text = [parts[0], by(parts), parts[2]].join('');
  };
  replace(/listen (8080);/, () => `listen 127.0.0.1:${ports.crm};`);
  replace(/listen (8081);/, () => `listen 127.0.0.1:${ports.intake};`);
  for (const [name, address] of [
    ['crm', 'crm:3000'],
    ['intake', 'intake:3001'],
  ] as const) {
    replace(new RegExp(`server ${address} (.*);`), ([, options]) =>
      upstreams[name].map((port) => `server 127.0.0.1:${port} ${options};`).join('\n    '),
    );
  }
  return text;
}

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
const readyTimeoutMs = 15_000;

/**
 * Starts an nginx and waits until it takes connections; it ends with its owner.
 *
 * @param options.directory for what it writes; made where it is not there.
 * @param options.upstreams ports of 127.0.0.1 at which the instances of each service listen.
 * @throws Error with what it wrote, when it does not start.
 */
export async function startNginx(options: {
  binary: string;
  directory: string;
  upstreams: Readonly<Record<ServiceName, readonly number[]>>;
}): Promise<LocalNginx> {
  const { binary, directory, upstreams } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const ports = { crm: await freePort(), intake: await freePort() };
  const errorLog = join(directory, 'error.log');
  const lines = [
    // Its workers have to reach the directory: an nginx of root's would make them somebody else's.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off;',
    'worker_processes 1;',
    `pid ${directory}/nginx.pid;`,
    `error_log ${errorLog} warn;`,
    'events { worker_connections 4096; }',
    'http {',
    'access_log off;',
    ...temporary.map((name) => `${name}_temp_path ${directory}/${name};`),
    configure(ports, upstreams),
    '}',
  ];
  const configFile = join(directory, 'nginx.conf');
  writeFileSync(configFile, lines.join('\n'));
  const child = spawn(binary, ['-c', configFile, '-p', directory, '-e', errorLog], {
    detached: true,
    stdio: 'ignore',
  });
  const errors = () => (existsSync(errorLog) ? readFileSync(errorLog, 'utf8') : '');
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
  while (!(await takesConnections(ports.intake))) {
    await Promise.race([exited, sleep(20)]);
    if (running && Date.now() < deadline) continue;
    await stop();
    throw new Error(`nginx does not start: ${errors().trim().slice(-1_000)}`);
  }
  return { ports, errors, [Symbol.asyncDispose]: stop };
}

async function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('error', () => settle(false)).once('connect', () => settle(true));
  });
}
