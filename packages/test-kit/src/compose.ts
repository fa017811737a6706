import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { parse } from 'yaml';

const docker = join(repositoryRoot, 'docker');

interface ComposeFile {
  readonly services: Readonly<Record<string, { readonly environment: Readonly<Record<string, string>> }>>;
}

/** The environments of the services of `docker/compose.yaml`, with secrets of their own. Disposing removes the secrets. */
export interface ComposeEnvironments extends Disposable {
  /**
   * Returns the environment of a service.
   *
   * @param variables the variables that the operator sets.
   */
  of(service: string, variables?: Readonly<Record<string, string>>): Record<string, string>;
}

/** Creates secrets by `docker/create-secrets`, which the environments name by `_FILE` variables. */
export function createComposeEnvironments(): ComposeEnvironments {
  const directory = mkdtempSync(join(tmpdir(), 'leads-compose-'));
  const script = join(directory, 'create-secrets');
  copyFileSync(join(docker, 'create-secrets'), script);
  execFileSync(script, { env: { PATH: process.env['PATH'] } });
  const text = readFileSync(join(docker, 'compose.yaml'), 'utf8');
  const { services } = parse(text, { merge: true }) as ComposeFile;
  return {
    of(service, variables = {}) {
      const environment = Object.entries(services[service]?.environment ?? {});
      if (environment.length === 0) throw new Error(`compose.yaml has no environment of ${service}`);
      return Object.fromEntries(
        environment.map(([name, value]) => [
          name,
          interpolate(value, variables).replace('/run/secrets/', `${directory}/secrets/`),
        ]),
      );
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:+replacement}` as Compose does, the innermost first. */
function interpolate(value: string, variables: Readonly<Record<string, string>>): string {
  const expanded = value.replace(
    /\$\{(\w+)(?:(:[-+])([^{}]*))?\}/g,
    (_, name: string, operator: string | undefined, word: string | undefined) => {
      const set = variables[name] ?? '';
      if (operator === ':-') return set || (word ?? '');
      if (operator === ':+') return set && (word ?? '');
      return set;
    },
  );
  return expanded === value ? value : interpolate(expanded, variables);
}
