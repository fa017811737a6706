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

/** Lays out a folder to build from, with a Dockerfile. */
function lay(dockerfile: string): {
  context: string;
  build: (name?: string) => Promise<Image>;
  steps: string[];
} {
  const directory = mkdtempSync(join(tmpdir(), 'leads-images-test-'));
  directories.push(directory);
  // The image's user has to get through.
  chmodSync(directory, 0o711);
  const context = join(directory, 'context');
  const files = {
    Dockerfile: dockerfile,
    '.dockerignore': '**/node_modules\n.git\n',
    '.git/HEAD': 'of no image',
    'a/node_modules/b/index.js': 'of no image',
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

test('the last stage has what was copied there, and its command runs in it without the right to write', async () => {
  const { context, build } = lay(firstStage + lastStage);

  const image = await build();
  const process = runImage(image, { env: {} });
  const { code } = await process.exited;

  expect(listImageFiles(image)).toMatchObject([{ path: '/app/bin', files: 1 }]);
  expect(process.output('stdout')).toBe('hello\n');
  // Who does not run as root owns the folder.
  expect(code === 0).toBe(globalThis.process.getuid?.() !== 0);
  const source = join(context, '../stages/0/src');
  expect(existsSync(join(source, 'a/index.js'))).toBe(true);
  expect(existsSync(join(source, '.git'))).toBe(false);
  expect(existsSync(join(source, 'a/node_modules'))).toBe(false);
});

test('a stage that two Dockerfiles have is built once', async () => {
  const { context, build, steps } = lay(firstStage + lastStage);
  writeFileSync(join(context, 'Other'), `${firstStage}${lastStage}LABEL title=other\n`);

  const [image, other] = await Promise.all([build(), build('Other')]);

  expect(steps.filter((step) => step.startsWith('RUN'))).toHaveLength(1);
  expect(other.root).not.toBe(image.root);
  expect(other.labels).toEqual({ title: 'other' });
});

test.each([
  ['a command that fails', 'RUN node --eval "process.exit(3)"', /RUN node.*\nended with 3/],
  ['a command that only the repository has', 'RUN vitest --version', /not found/],
  ['a file that is not there', 'COPY missing.txt ./', /COPY missing\.txt.*\n.*ENOENT/],
  ['a file that .dockerignore leaves out', 'COPY .git/HEAD ./', /left out by \.dockerignore/],
  ['a stage that is not there', 'COPY --from=pruned /src ./', /no stage pruned/],
  ['a variable that is not set', 'COPY ${NOTHING} ./', /NOTHING is not set/],
  ['a path out of the stage', 'RUN cp greet.sh /usr/local/bin', /absolute path/],
  ['an instruction that is not known', 'ONBUILD RUN true', /Line 7 is not understood: ONBUILD/],
  ['a flag that is not known', 'COPY --chown=node greet.sh ./', /Line 7 is not understood/],
  ['a command in a shell, which passes no signals on', 'CMD node server.js', /Line 7 is not understood/],
])('%s fails the build', async (_what, line, message) => {
  const { build } = lay(`${firstStage}\n${line}${lastStage}`);

  await expect(build()).rejects.toThrow(message);
});

test.each(['node', '0:0', 'root'])(
  'USER %s is refused: Kubernetes could not tell it from root',
  async (user) => {
    const { build } = lay((firstStage + lastStage).replace('1000:1000', user));
    const image = await build();

    expect(() => userOf(image)).toThrow(/two numbers/);
  },
);
