import { readLock, shippedPackages } from './shipped-packages.ts';

// Prints the third-party packages of the services, each with its version and license, separated by tabs.
for (const { name, version, license = 'unknown' } of shippedPackages(readLock().packages)) {
  process.stdout.write(`${name}\t${version}\t${license}\n`);
}
