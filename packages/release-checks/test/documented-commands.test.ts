import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { pages, readPage, shellBlocks } from '@leads/test-kit/documents';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

interface ComposeFile {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image?: string;
        readonly build?: { readonly dockerfile: string };
        readonly profiles?: readonly string[];
      }
    >
  >;
}

const manifests = execFileSync('git', ['ls-files', 'docker/*.yaml'], {
  cwd: repositoryRoot,
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean);

/** The commands of shell blocks, of backticks and of the comments of the manifests, each on one line. */
const commands = [
  ...pages.flatMap(shellBlocks),
  ...pages.flatMap((page) =>
    [...readPage(page).matchAll(/`((?:docker|kubectl) [^`]+)`/g)].map(([, code = '']) => code),
  ),
  ...manifests.map((file) => readPage(file).replaceAll(/^# ?/gm, '')),
].flatMap((text) =>
  [...text.replaceAll(/\\\n\s*/g, ' ').matchAll(/^\s*((?:docker|kubectl) .*?)(?: +#.*)?$/gm)].map(
    ([, command = '']) => command,
  ),
);
const startingWith = (program: string) =>
  commands.filter((command) => command.startsWith(`${program} `)).map((command) => command.split(/\s+/));

/** Returns the values of an option: `-f a -f b` has the values `a` and `b`. */
const valuesOf = (words: readonly string[], option: string) =>
  words.filter((_, i) => words[i - 1] === option);

test('the pages contain more than 8 docker commands and more than 10 kubectl commands', () => {
  expect(startingWith('docker').length).toBeGreaterThan(8);
  expect(startingWith('kubectl').length).toBeGreaterThan(10);
});

test('every docker compose command names existing files, services and profiles', () => {
  for (const words of startingWith('docker compose')) {
    const line = words.join(' ');
    const files = valuesOf(words, '-f');
    expect(files, line).not.toEqual([]);
    const services = files.flatMap((file) => Object.entries((parse(readPage(file)) as ComposeFile).services));
    const profiles = services.flatMap(([, service]) => service.profiles ?? []);
    for (const profile of valuesOf(words, '--profile')) expect(profiles, line).toContain(profile);
    const [, command = '', rest = ''] = / (build|down|exec|logs|ps|run|up)\b(.*)$/.exec(line) ?? [];
    expect(command, line).not.toBe('');
    // `docker compose up` without a service starts all services.
    const service = rest.split(' ').find((word) => word !== '' && !word.startsWith('-')) ?? 'crm';
    expect(
      services.map(([name]) => name),
      line,
    ).toContain(service);
  }
});

test('every docker build command names a Dockerfile and the image that the compose file runs', () => {
  const { services } = parse(readPage('docker/compose.yaml'), { merge: true }) as ComposeFile;
  for (const words of startingWith('docker build')) {
    const [dockerfile = ''] = valuesOf(words, '-f');
    const built = Object.values(services).filter(({ build }) => build?.dockerfile === dockerfile);
    expect(built.map(({ image }) => image)).toContain(valuesOf(words, '-t')[0]);
  }
});

test('both Dockerfiles declare every build argument of the pages', () => {
  const [sentence = ''] = /`--build-arg [^]*?\n\n/.exec(readPage('docker/README.md')) ?? [];
  const named = [...sentence.matchAll(/\b([A-Z_]+)=/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(1);
  for (const name of named) {
    expect(readPage('docker/crm.Dockerfile'), name).toMatch(new RegExp(`^ARG ${name}\\b`, 'm'));
    expect(readPage('docker/intake.Dockerfile'), name).toMatch(new RegExp(`^ARG ${name}\\b`, 'm'));
  }
});

test('every kubectl command names existing folders, namespaces, objects and labels', () => {
  const folder = join(repositoryRoot, 'docker/kubernetes');
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const objects = texts
    .flatMap((text) =>
      parseAllDocuments(text, { merge: true }).map((document) => document.toJS() as KubernetesObject),
    )
    .flatMap((object) => object.items ?? [object]);
  const names = objects.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata?.name}`);
  for (const words of startingWith('kubectl')) {
    const line = words.join(' ');
    for (const path of valuesOf(words, '-k')) {
      expect(existsSync(join(repositoryRoot, path, 'kustomization.yaml')), line).toBe(true);
    }
    for (const name of valuesOf(words, '--namespace')) expect(names, line).toContain(`namespace/${name}`);
    const named = line
      .replace(/ delete (\w+) /, ' delete $1/')
      .matchAll(/(?<= )(?:deployment|job|cronjob)\/[\w-]+/g);
    for (const [object] of named) expect(names, line).toContain(object);
    const labels = [...line.matchAll(/^kubectl label .* ([\w-]+)=(\w+)$/g)];
    for (const [, label, value] of labels) {
      expect(texts.join('\n'), line).toMatch(new RegExp(`${label}: "?${value}"?`));
    }
  }
});

interface KubernetesObject {
  readonly kind: string;
  readonly metadata?: { readonly name: string };
  readonly items?: readonly KubernetesObject[];
}
