// Writes a package.json and a package-lock.json for turbo alone, with the version and the hashes of the repository's lock file.
// Usage, in the repository's root: node docker/turbo-lock.js <directory>
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory] = process.argv.slice(2);
const { lockfileVersion, packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const isTurbo = (path) => /^node_modules\/(turbo|@turbo\/[\w-]+)$/.test(path);
const entries = Object.entries(packages).filter(([path]) => isTurbo(path));
const { version } = packages['node_modules/turbo'];
const project = { name: 'turbo-alone', version: '1.0.0', dependencies: { turbo: version } };
const lock = {
  ...project,
  lockfileVersion,
  requires: true,
  packages: { '': project, ...Object.fromEntries(entries) },
};

mkdirSync(directory, { recursive: true });
writeFileSync(join(directory, 'package.json'), JSON.stringify(project));
writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(lock));
