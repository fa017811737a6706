import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { serviceEnvironment } from '@leads/local-stack/processes/service-environment';
import { startProcess } from '@leads/local-stack/processes/supervisor';
import { BuildContext } from './build-context.ts';
import { parseDockerfile, type Stage, type Step } from './dockerfile.ts';
import { linkPackages } from './link-packages.ts';

/** The last stage of a Dockerfile, built as files in a folder. */
export interface Image {
  /** The folder of the image's `/`. It contains the copied files, without the base image. */
  readonly root: string;
  /** A path relative to the root. */
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  readonly ports: readonly number[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  /** The targets of the COPY instructions, in order. */
  readonly copied: readonly string[];
}

interface BuilderOptions {
  /** The build context. Its `node_modules` contains the packages of its lock file. */
  readonly context: string;
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly onStep: (step: string, ms: number) => void;
}

/** The state of a stage after some of its steps. */
interface Layer {
  readonly root: string;
  workdir: string;
  readonly env: Record<string, string>;
  /** Values of `ARG`, which are set for commands like `ENV` but are not part of the image. */
  readonly args: Record<string, string>;
  readonly labels: Record<string, string>;
  user: string | undefined;
  readonly ports: number[];
  command: readonly string[];
  healthcheck: readonly string[];
  readonly copied: string[];
}

/** Builds images without a container engine. */
export class ImageBuilder {
  readonly #options: BuilderOptions;
  readonly #context: BuildContext;
  readonly #stages = new Map<string, Promise<Layer>>();

  /**
   * @param options.directory the parent directory of the stages.
   * @param options.signal aborts running commands.
   * @param options.onStep called after each step with its duration in milliseconds.
   */
  constructor(options: BuilderOptions) {
    this.#options = options;
    this.#context = new BuildContext(options.context);
  }

  /**
   * Builds a Dockerfile. Each stage has its own empty folder, and its commands run with the Node.js and npm
   * of this process. The base image is missing. Commands are not isolated, but a command with an absolute
   * path is rejected. As with an engine, a stage that was built before is not built again.
   *
   * @throws Error with the failed step and the end of its output.
   */
  async build(dockerfile: string): Promise<Image> {
    const { args, stages } = parseDockerfile(readFileSync(dockerfile, 'utf8'));
    const layers = new Map<string, Layer>();
    let last: Layer | undefined;
    let key = JSON.stringify([...args]);
    for (const stage of stages) {
      // The key includes all earlier stages, since a stage may copy from them.
      key += JSON.stringify([stage.name, stage.from, stage.steps.map(({ text }) => text)]);
      let building = this.#stages.get(key);
      if (building === undefined) {
        building = this.#buildStage(stage, { args, layers: new Map(layers), file: basename(dockerfile) });
        this.#stages.set(key, building);
      }
      last = await building;
      if (stage.name !== undefined) layers.set(stage.name, last);
    }
    if (last === undefined || last.command.length === 0 || last.healthcheck.length === 0) {
      throw new Error(`${basename(dockerfile)}: the last stage has no CMD or no HEALTHCHECK`);
    }
    return last;
  }

  async #buildStage(
    stage: Stage,
    {
      args,
      layers,
      file,
    }: { args: ReadonlyMap<string, string>; layers: ReadonlyMap<string, Layer>; file: string },
  ): Promise<Layer> {
    const { directory, signal, onStep } = this.#options;
    const layer = openLayer(stage, join(directory, String(this.#stages.size)), args);
    for (const step of stage.steps) {
      signal.throwIfAborted();
      const started = Date.now();
      try {
        await runStep(step, layer, {
          context: this.#context,
          installed: this.#options.context,
          layers,
          signal,
        });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`${file}:${step.line}: ${step.text}\n${reason}`, { cause: error });
      }
      onStep(step.text, Date.now() - started);
    }
    return layer;
  }
}

function openLayer(stage: Stage, root: string, args: ReadonlyMap<string, string>): Layer {
  const from = expand(stage.from, Object.fromEntries(args));
  // A stage on top of another stage would contain its files.
  if (!from.startsWith('node:')) throw new Error(`FROM ${from}: only Node.js images are supported`);
  mkdirSync(root, { recursive: true });
  return {
    root,
    workdir: '/',
    env: { PATH: ownPath() },
    args: {},
    labels: {},
    user: undefined,
    ports: [],
    command: [],
    healthcheck: [],
    copied: [],
  };
}

async function runStep(
  step: Step,
  layer: Layer,
  {
    context,
    installed,
    layers,
    signal,
  }: {
    context: BuildContext;
    installed: string;
    layers: ReadonlyMap<string, Layer>;
    signal: AbortSignal;
  },
): Promise<void> {
  const replaced = (text: string) => expand(text, { ...layer.args, ...layer.env });
  switch (step.kind) {
    case 'arg':
      for (const [name, value] of step.values) layer.args[name] = replaced(value);
      return;
    case 'env':
      for (const [name, value] of step.values) layer.env[name] = replaced(value);
      return;
    case 'label':
      for (const [name, value] of step.values) layer.labels[name] = replaced(value);
      return;
    case 'workdir':
      layer.workdir = posix.resolve(layer.workdir, replaced(step.value));
      mkdirSync(join(layer.root, layer.workdir), { recursive: true });
      return;
    case 'user':
      layer.user = replaced(step.value);
      return;
    case 'expose':
      layer.ports.push(Number(replaced(step.value)));
      return;
    case 'copy':
      copy(step.sources.map(replaced), replaced(step.target), layer, {
        find: (source) =>
          step.from === undefined ? context.path(source) : pathIn(layers, step.from, source),
        isIncluded: (path) => step.from !== undefined || !context.isIgnored(path),
      });
      return;
    case 'run':
      if (step.command.startsWith('npm ci ')) await install(step.command, { installed, layer, signal });
      else await run(step.command, layer, signal);
      return;
    case 'cmd':
      layer.command = step.command;
      return;
    case 'healthcheck':
      layer.healthcheck = step.command;
  }
}

/** Copies files into a folder under their own names, and of folders their content. */
function copy(
  sources: readonly string[],
  target: string,
  layer: Layer,
  { find, isIncluded }: { find: (source: string) => string; isIncluded: (path: string) => boolean },
): void {
  const destinationRoot = posix.resolve(layer.workdir, target);
  for (const source of sources) {
    const path = find(source);
    const isInto = (target.endsWith('/') || sources.length > 1) && statSync(path).isFile();
    const destination = isInto ? posix.join(destinationRoot, basename(source)) : destinationRoot;
    cpSync(path, join(layer.root, destination), {
      recursive: true,
      verbatimSymlinks: true,
      filter: isIncluded,
    });
    layer.copied.push(destination);
  }
}

function pathIn(layers: ReadonlyMap<string, Layer>, stage: string, source: string): string {
  const layer = layers.get(stage);
  if (layer === undefined) throw new Error(`Stage ${stage} does not exist before this one`);
  return join(layer.root, posix.resolve('/', source));
}

/** Replaces `$NAME` and `${NAME}`. */
function expand(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_match, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? '';
    const value = values[name];
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  });
}

/**
 * Runs `npm ci` without unpacking packages. npm compares the lock file with the manifests, and links commands. The
 * packages are those that are installed already, at the versions of the lock file.
 */
async function install(
  command: string,
  { installed, layer, signal }: { installed: string; layer: Layer; signal: AbortSignal },
): Promise<void> {
  const [, prefix = '.'] = /--prefix (\S+)/.exec(command) ?? [];
  await run(`${command} --dry-run`, layer, signal);
  linkPackages({ target: join(layer.root, layer.workdir, prefix), installed });
  await run(`npm rebuild --ignore-scripts --prefix ${prefix}`, layer, signal);
}

/** Variables that npm may need to reach its registry. */
const network =
  /^(?:npm_config_(?:registry|cache|userconfig|globalconfig)|https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_file)$/i;

/** A path from the root of the file system, which is outside of the stage's folder. */
const absolutePath = /(?:^|[\s"'=:<>|&;(])\/(?!dev\/null\b)/;

const runTimeoutMs = 10 * 60_000;

async function run(command: string, layer: Layer, signal: AbortSignal): Promise<void> {
  if (absolutePath.test(command)) throw new Error('An absolute path is outside of the image');
  const reach = Object.fromEntries(Object.entries(process.env).filter(([name]) => network.test(name)));
  const shell = startProcess({
    name: command,
    file: 'sh',
    args: ['-c', command],
    cwd: join(layer.root, layer.workdir),
    env: serviceEnvironment({ ...reach, ...layer.args, ...layer.env }),
    stopSignals: [],
    signal: AbortSignal.any([signal, AbortSignal.timeout(runTimeoutMs)]),
  });
  const { code } = await shell.exited;
  if (code !== 0)
    throw new Error(`ended with ${code ?? 'a signal'}:\n${shell.output().slice(-20_000).trimEnd()}`);
}

/**
 * Returns the PATH of this process without the commands of the repository's packages, which images do not
 * contain.
 */
function ownPath(): string {
  const directories = (process.env['PATH'] ?? '').split(':');
  return directories.filter((path) => !/node_modules|node-gyp-bin/.test(path) && existsSync(path)).join(':');
}
