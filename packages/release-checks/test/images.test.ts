import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Image, ImageBuilder } from '../src/images/build-image.ts';
import { listImageFiles } from '../src/images/image-files.ts';
import { runImage, userOf } from '../src/images/run-image.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

const firstStage = `
ARG NODE_IMAGE=node:24
FROM \${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
RUN mkdir out && cp greet.sh out/greet`;
const lastStage = `
FROM \${NODE_IMAGE}
ENV GREETING=hello PATH=/app/bin:$PATH
WORKDIR /app
COPY --from=build /src/out bin
USER 1000:1000
HEALTHCHECK --interval=1s CMD ["node", "-e", "process.exit(0)"]
CMD ["greet"]
`;

/** Creates a build context with a Dockerfile. */
function createContext(dockerfile: string): {
  context: string;
  build: (name?: string) => Promise<Image>;
  steps: string[];
} {
  const directory = mkdtempSync(join(tmpdir(), 'leads-images-test-'));
  directories.push(directory);
  // The user of the image must be able to enter this directory.
  chmodSync(directory, 0o711);
  const context = join(directory, 'context');
  const files = {
    Dockerfile: dockerfile,
    '.dockerignore': '**/node_modules\n.git\n',
    '.git/HEAD': 'not in the image',
    'a/node_modules/b/index.js': 'not in the image',
    'a/index.js': '',
    'greet.sh': '#!/bin/sh\necho "$GREETING"\ntouch written\n',
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(context, name)), { recursive: true });
    writeFileSync(join(context, name), content, { mode: 0o755 });
  }
  const steps: string[] = [];
  const builder = new ImageBuilder({
    context,
    directory: join(directory, 'stages'),
    signal: new AbortController().signal,
    onStep: (step) => steps.push(step),
  });
  return { context, build: (name = 'Dockerfile') => builder.build(join(context, name)), steps };
}

test('the last stage contains the copied files, and its command runs without permission to write there', async () => {
  const { context, build } = createContext(firstStage + lastStage);

  const image = await build();
  const process = runImage(image, { env: {} });
  const { code } = await process.exited;

  expect(listImageFiles(image)).toMatchObject([{ path: '/app/bin', files: 1 }]);
  expect(process.output('stdout')).toBe('hello\n');
  // A user other than root owns the folder and can write.
  expect(code === 0).toBe(globalThis.process.getuid?.() !== 0);
  const source = join(context, '../stages/0/src');
  expect(existsSync(join(source, 'a/index.js'))).toBe(true);
  expect(existsSync(join(source, '.git'))).toBe(false);
  expect(existsSync(join(source, 'a/node_modules'))).toBe(false);
});

test('a stage that two Dockerfiles share is built once', async () => {
  const { context, build, steps } = createContext(firstStage + lastStage);
  writeFileSync(join(context, 'Other'), `${firstStage}${lastStage}LABEL title=other\n`);

  const [image, other] = await Promise.all([build(), build('Other')]);

  expect(steps.filter((step) => step.startsWith('RUN'))).toHaveLength(1);
  expect(other.root).not.toBe(image.root);
  expect(other.labels).toEqual({ title: 'other' });
});

test.each([
  ['a failing command', 'RUN node --eval "process.exit(3)"', /RUN node.*\nended with 3/],
  ['a command that only the repository has', 'RUN vitest --version', /not found/],
  ['a missing file', 'COPY missing.txt ./', /COPY missing\.txt.*\n.*ENOENT/],
  ['a file that .dockerignore excludes', 'COPY .git/HEAD ./', /excluded by \.dockerignore/],
  ['an unknown stage', 'COPY --from=pruned /src ./', /Stage pruned does not exist/],
  ['an unset variable', 'COPY ${NOTHING} ./', /NOTHING is not set/],
  ['a path outside of the stage', 'RUN cp greet.sh /usr/local/bin', /absolute path/],
  ['an unsupported instruction', 'ONBUILD RUN true', /Line 7 is not supported: ONBUILD/],
  ['an unsupported flag', 'COPY --chown=node greet.sh ./', /Line 7 is not supported/],
  ['a command in shell form', 'CMD node server.js', /Line 7 is not supported/],
])('the build fails for %s', async (_what, line, message) => {
  const { build } = createContext(`${firstStage}\n${line}${lastStage}`);

  await expect(build()).rejects.toThrow(message);
});

test('npm ci takes packages of the locked versions from the build context', async () => {
  const { context, build } = createContext(`${firstStage}\nRUN npm ci --ignore-scripts${lastStage}`);
  const write = (name: string, content: object) => {
    mkdirSync(dirname(join(context, name)), { recursive: true });
    writeFileSync(join(context, name), JSON.stringify(content));
  };
  const project = { name: 'images-test', version: '1.0.0', dependencies: { one: '^1.0.0' } };
  const one = { version: '1.2.3', bin: { one: 'one.js' } };
  const packages = { '': project, 'node_modules/one': one };
  write('package.json', project);
  write('package-lock.json', { ...project, lockfileVersion: 3, requires: true, packages });
  write('node_modules/one/one.js', {});
  write('node_modules/one/package.json', { ...one, name: 'one', version: '1.2.4' });
  await expect(build()).rejects.toThrow('node_modules/one: 1.2.3 is locked, but 1.2.4 is installed');

  write('node_modules/one/package.json', { ...one, name: 'one' });
  // Another builder, since a failed stage is not built again.
  const directory = join(context, '../more-stages');
  const { signal } = new AbortController();
  const builder = new ImageBuilder({ context, directory, signal, onStep: () => undefined });
  await builder.build(join(context, 'Dockerfile'));
  const installed = join(directory, '0/src/node_modules');
  expect(['one/one.js', '.bin/one'].map((path) => existsSync(join(installed, path)))).toEqual([true, true]);
});

test.each(['node', '0:0', 'root'])(
  'USER %s is rejected, since Kubernetes cannot verify that it is not root',
  async (user) => {
    const { build } = createContext((firstStage + lastStage).replace('1000:1000', user));
    const image = await build();

    expect(() => userOf(image)).toThrow(/two numbers/);
  },
);
