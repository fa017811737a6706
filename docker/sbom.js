// Writes the bill of materials of an image to stdout (CycloneDX, JSON): of the packages that `npm sbom` lists on stdin those
// that the image has, bundled, as source maps tell, or as folders.
//
//   npm sbom --sbom-format cyclonedx | node docker/sbom.js FOLDER...
//
// Fails where the image has a package that is not listed, or one that only development needs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const bill = JSON.parse(await text(process.stdin));
const names = new Set(process.argv.slice(2).flatMap(sourcesOf).map(packageOf));
// Of what a package has bundled itself the paths lead nowhere: it is in the image as that package.
names.delete(bill.metadata.component['bom-ref']);
const components = bill.components.filter((component) => names.has(component['bom-ref']));
const listed = new Set(components.map((component) => component['bom-ref']));

const faults = [
  ...[...names].filter((name) => !listed.has(name)).map((name) => `${name} is not listed by npm`),
  ...components
    .filter(isForDevelopment)
    .map((component) => `${component['bom-ref']} is for development only`),
];
if (faults.length > 0) {
  process.stderr.write(`The image must not have these:\n${faults.join('\n')}\n`);
  process.exit(1);
}
const dependencies = bill.dependencies
  .filter(({ ref }) => listed.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((name) => listed.has(name)) }));
// The same packages make the same file, and so the same image: without when it was written, and its serial number.
const { serialNumber: _, metadata, ...rest } = bill;
const { timestamp: __, ...lasting } = metadata;
process.stdout.write(JSON.stringify({ ...rest, metadata: lasting, components, dependencies }));

/** The files that were bundled into a folder; the manifest of one without source maps, which is a package. */
function sourcesOf(folder) {
  const maps = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.map'));
  const sources = maps.flatMap((name) => {
    const file = resolve(folder, name);
    // What a bundler adds of its own has a name that no file can have.
    const named = JSON.parse(readFileSync(file, 'utf8')).sources.filter((source) => !source.includes('\0'));
    return named.map((source) => resolve(dirname(file), source));
  });
  const isPackage = existsSync(join(folder, 'package.json'));
  return isPackage ? [...sources, resolve(folder, 'package.json')] : sources;
}

/** The package that a file is of, as `name@version`. */
function packageOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'));
    if (name !== undefined && version !== undefined) return `${name}@${version}`;
  }
  throw new Error(`No package has ${file}`);
}

function isForDevelopment({ properties = [] }) {
  return properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');
}
