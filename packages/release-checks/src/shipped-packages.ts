import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';

/** An entry of package-lock.json (npm's documentation, "package-lock.json", `packages`). */
interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: true;
  readonly hasInstallScript?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The packages by path of installation; the packages of this repository by directory. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

export function readLock(): { lockfileVersion: number; packages: LockedPackages } {
  return JSON.parse(readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8')) as {
    lockfileVersion: number;
    packages: LockedPackages;
  };
}

/** A third-party package that is part of a service. */
export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, or the text of its author; undefined if the package has none. */
  readonly license: string | undefined;
}

/** Returns the third-party packages that the services depend on, directly or indirectly, sorted by name. */
export function shippedPackages(packages: LockedPackages): ShippedPackage[] {
  const found = new Map<string, ShippedPackage>();
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    const locked = packages[path] ?? {};
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (locked.link === true) {
      visit(locked.resolved ?? '');
      return;
    }
    if (path.includes('node_modules/')) {
      const { version = '', license } = locked;
      found.set(`${name}@${version}`, { name, version, license });
    }
    const peers = Object.keys(locked.peerDependencies ?? {}).filter(
      (peer) => locked.peerDependenciesMeta?.[peer]?.optional !== true,
    );
    for (const dependency of [
      ...Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }),
      ...peers,
    ]) {
      const installedPath = findInstalled(packages, path, dependency);
      if (installedPath !== undefined) visit(installedPath);
    }
  };
  for (const service of ['apps/crm', 'apps/intake']) visit(service);
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Returns the path of a package that Node.js resolves from another: in the nearest `node_modules` that
 * contains it.
 */
function findInstalled(packages: LockedPackages, from: string, name: string): string | undefined {
  for (let directory = from; ; directory = directory.slice(0, Math.max(directory.lastIndexOf('/'), 0))) {
    const installedPath = directory === '' ? `node_modules/${name}` : `${directory}/node_modules/${name}`;
    if (packages[installedPath] !== undefined) return installedPath;
    if (directory === '') return undefined;
  }
}
