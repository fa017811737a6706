// Writes the bill of materials of an image to stdout (CycloneDX, JSON). Reads the output of `npm sbom` from stdin and
// keeps the packages that the image contains. A package is in the image if a source map names it or if it is a folder.
//
//   npm sbom --sbom-format cyclonedx | node docker/sbom.js FOLDER...
//
// Fails if the image contains a package that is not listed, or one that is for development only.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const bill = JSON.parse(await text(process.stdin));
const names = new Set(process.argv.slice(2).flatMap(sourcesOf).map(packageOf));
// Sources that a package has bundled itself resolve to the root package, which is not a component.
names.delete(bill.metadata.component['bom-ref']);
const components = bill.components.filter((component) => names.has(component['bom-ref']));
const listed = new Set(components.map((component) => component['bom-ref']));

const problems = [
  ...[...names].filter((name) => !listed.has(name)).map((name) => `${name} is not listed by npm`),
  ...components
    .filter(isForDevelopment)
    .map((component) => `${component['bom-ref']} is for development only`),
];
if (problems.length > 0) {
  process.stderr.write(`The image must not contain these packages:\n${problems.join('\n')}\n`);
  process.exit(1);
}
const dependencies = bill.dependencies
  .filter(({ ref }) => listed.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((name) => listed.has(name)) }));
// The output omits the time and the serial number, so that the same packages result in the same image.
const { serialNumber: _, metadata, ...rest } = bill;
const { timestamp: __, ...stableMetadata } = metadata;
process.stdout.write(JSON.stringify({ ...rest, metadata: stableMetadata, components, dependencies }));

/** Returns the sources of all source maps in a folder, and the manifest of the folder if it is a package. */
function sourcesOf(folder) {
  const maps = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.map'));
  const sources = maps.flatMap((name) => {
    const file = resolve(folder, name);
    // A name with a null character is a virtual module of the bundler.
    const named = JSON.parse(readFileSync(file, 'utf8')).sources.filter((source) => !source.includes('\0'));
    return named.map((source) => resolve(dirname(file), source));
  });
  const isPackage = existsSync(join(folder, 'package.json'));
  return isPackage ? [...sources, resolve(folder, 'package.json')] : sources;
}

/** Returns the package of a file as `name@version`. */
function packageOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'));
    if (name !== undefined && version !== undefined) return `${name}@${version}`;
  }
  throw new Error(`${file} belongs to no package`);
}

function isForDevelopment({ properties = [] }) {
  return properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');
}
