import { readLock, shippedPackages } from './shipped-packages.ts';

// The packages of others that the services are made of, each with its version and licence, separated by tabs.
for (const { name, version, license = 'unknown' } of shippedPackages(readLock().packages)) {
  process.stdout.write(`${name}\t${version}\t${license}\n`);
}
