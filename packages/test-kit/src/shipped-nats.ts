import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { repositoryRoot } from '@leads/local-stack/repository';

/** A nats-server with the shipped configuration. */
export interface ShippedNats extends LocalNats {
  readonly monitoringUrl: string;
}

/**
 * Starts a nats-server with `docker/nats-server.conf`, on ports of its own.
 *
 * @param options.dataDir for its streams.
 * @param options.passwords the file nats-passwords.
 * @param options.certificate the path of `.crt` and `.key`, without the suffix; without it, the server has no TLS.
 */
export async function startShippedNats(options: {
  dataDir: string;
  passwords: string;
  certificate?: string;
}): Promise<ShippedNats> {
  const { dataDir, passwords, certificate } = options;
  const monitoringPort = await freePort();
  const replacements: Record<string, string> = {
    '^listen: .*$': '',
    '127.0.0.1:8222': `127.0.0.1:${monitoringPort}`,
    '(?<=store_dir: ).*$': JSON.stringify(join(dataDir, 'streams')),
    ...(certificate === undefined
      ? { '^tls .*$': '' }
      : { '^(tls .*)/etc/nats/tls/tls(.*)/etc/nats/tls/tls': `$1${certificate}$2${certificate}` }),
  };
  let settings = readFileSync(join(repositoryRoot, 'docker/nats-server.conf'), 'utf8');
  for (const [pattern, replacement] of Object.entries(replacements)) {
    const changed = settings.replace(new RegExp(pattern, 'm'), replacement);
    if (changed === settings) throw new Error(`nats-server.conf has no ${pattern}`);
    settings = changed;
  }

  mkdirSync(dataDir, { recursive: true });
  // The configuration includes this file from its own directory.
  copyFileSync(passwords, join(dataDir, 'nats-passwords'));
  const start = async (text: string) =>
    startNats({ binary: await findNatsServer(), dataDir, settings: text });
  const nats = await start(settings).catch((error: unknown) => {
    // The nats-server of Debian is too old for sync_interval. All other settings still apply.
    if (!(error as Error).message.includes('unknown field "sync_interval"')) throw error;
    return start(settings.replace('sync_interval: always', ''));
  });
  return { ...nats, monitoringUrl: `http://127.0.0.1:${monitoringPort}` };
}
