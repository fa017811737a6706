import { resolve } from 'node:path';
import { isPortFree } from './processes/free-port.ts';
import type { ServiceName } from './processes/services.ts';
import { repositoryRoot } from './repository.ts';

/** The settings of a local run, read from the environment. */
export interface Settings {
  /** LEADS_DATA_DIR; default `.data` in the repository. */
  readonly dataDir: string;
  /** CRM_PORT and INTAKE_PORT; default 3000 and 3001. */
  readonly ports: Readonly<Record<ServiceName, number>>;
  /** DATABASE_URL; if not set, a Postgres is started. */
  readonly databaseUrl: string | undefined;
  /** NATS_URL; if not set, a nats-server is started, if one is installed. */
  readonly natsUrl: string | undefined;
  /** JWT_SECRET; if not set, one is generated and stored. */
  readonly jwtSecret: string | undefined;
}

/** Reads and checks the settings. @throws Error with one line about the first invalid setting. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const ports = { crm: readPort(env, 'CRM_PORT', 3000), intake: readPort(env, 'INTAKE_PORT', 3001) };
  if (ports.crm === ports.intake) throw new Error(`CRM_PORT and INTAKE_PORT are both ${ports.crm}`);
  const jwtSecret = env['JWT_SECRET'] || undefined;
  if (jwtSecret !== undefined && jwtSecret.length < 32) {
    throw new Error('JWT_SECRET must have at least 32 characters');
  }
  return {
    dataDir: resolve(env['LEADS_DATA_DIR'] || resolve(repositoryRoot, '.data')),
    ports,
    databaseUrl: env['DATABASE_URL'] || undefined,
    natsUrl: env['NATS_URL'] || undefined,
    jwtSecret,
  };
}

/**
 * Checks that the ports are free. @throws Error that names the port in use and the variable that sets
 * another.
 */
export async function checkPorts(ports: Settings['ports'], env: NodeJS.ProcessEnv): Promise<void> {
  for (const [name, port] of Object.entries(ports)) {
    const prefix = name.toUpperCase();
    if (await isPortFree(port, env[`${prefix}_HOST`] || '127.0.0.1')) continue;
    throw new Error(
      `Port ${port} is in use: end the program that listens on it, or set another port with ${prefix}_PORT`,
    );
  }
}

function readPort(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = env[name];
  if (!text) return otherwise;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new Error(`${name} is not a port: ${text}`);
}
