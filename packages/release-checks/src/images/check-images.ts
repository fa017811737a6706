import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@leads/local-stack/processes/free-port';
import { startTemporaryPostgres } from '@leads/local-stack/processes/temporary-postgres';
import { repositoryRoot } from '@leads/local-stack/repository';
import { type Image, ImageBuilder } from './build-image.ts';
import { imageState, listImageFiles } from './image-files.ts';
import { runImage, userOf } from './run-image.ts';

const names = ['crm', 'intake'] as const;
type Name = (typeof names)[number];

const healthyTimeoutMs = 60_000;
const commandTimeoutMs = 60_000;

/**
 * Builds both images from their Dockerfiles without a container engine, then runs them: the migrations, a
 * user, and a first lead. The intake accepts the lead, and the CRM lists it.
 */
async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'leads-images-'));
  // The user of the images must be able to enter this directory.
  chmodSync(directory, 0o711);
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const images = await buildAll(directory);
  for (const name of names) checkImage(name, images[name]);
  await tryImages(images);
  for (const name of names) printContents(name, images[name]);
}

async function buildAll(directory: string): Promise<Record<Name, Image>> {
  const failed = new AbortController();
  const builder = new ImageBuilder({
    context: repositoryRoot,
    directory,
    signal: failed.signal,
    onStep: (step, ms) => {
      if (ms > 500) console.log(`${(ms / 1000).toFixed(1).padStart(5)} s  ${step}`);
    },
  });
  const crm = builder.build(join(repositoryRoot, 'docker/crm.Dockerfile'));
  const intake = builder.build(join(repositoryRoot, 'docker/intake.Dockerfile'));
  try {
    const [crmImage, intakeImage] = await Promise.all([crm, intake]);
    return { crm: crmImage, intake: intakeImage };
  } catch (error) {
    failed.abort(error);
    // A killed command may still write into the directory that is removed next.
    await Promise.allSettled([crm, intake]);
    throw error;
  }
}

/** Checks properties of an image that running it here does not show. */
function checkImage(name: Name, image: Image): void {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const prefix = name.toUpperCase();
  userOf(image);
  const facts = {
    [`ENV ${prefix}_HOST`]: [image.env[`${prefix}_HOST`], '0.0.0.0'],
    EXPOSE: [image.ports.join(), image.env[`${prefix}_PORT`]],
    'ENV NODE_ENV': [image.env['NODE_ENV'], 'production'],
    'the version': [image.labels['org.opencontainers.image.version'], version],
    'the title': [image.labels['org.opencontainers.image.title'], `leads-${name}`],
  };
  for (const [fact, [found, expected]] of Object.entries(facts)) {
    if (found !== expected) throw new Error(`leads-${name}: ${fact} is ${found}, not ${expected}`);
  }
}

async function tryImages(images: Record<Name, Image>): Promise<void> {
  const before = names.map((name) => imageState(images[name]));
  await using postgres = await startTemporaryPostgres();
  await postgres.createDatabase('leads');
  const env = { DATABASE_URL: postgres.url('leads'), JWT_SECRET: randomBytes(32).toString('hex') };
  const leads = async (...args: string[]): Promise<unknown> => {
    const command = ['leads', ...args, '--json'];
    const process = runImage(images.crm, { command, env, timeoutMs: commandTimeoutMs });
    const { code } = await process.exited;
    if (code !== 0)
      throw new Error(`${command.join(' ')} ends with ${code ?? 'a signal'}:\n${process.output()}`);
    const printed = process.output('stdout').trim();
    return printed === '' ? undefined : JSON.parse(printed);
  };

  await leads('migrate');
  const email = 'someone@example.com';
  await leads('user', 'create', '--email', email, '--name', 'Someone');
  const { apiKey } = (await leads('key', 'create', '--user', email, '--name', 'Check')) as { apiKey: string };
  const { accessToken } = (await leads('token', 'create', '--user', email, '--name', 'Check')) as {
    accessToken: string;
  };

  await using crm = await start('crm', images.crm, env);
  await using intake = await start('intake', images.intake, env);
  const orderId = await submitLead(intake.url, apiKey);
  await findLead(crm.url, { apiKey, accessToken }, orderId);
  await expectPage(`${crm.url}/`, '<div id="root">');
  for (const { url } of [crm, intake]) await expectPage(`${url}/docs/reference.js`, 'scalar');
  console.log(`The intake accepted the first lead, ${orderId}, and the CRM lists it.`);
  for (const service of [crm, intake]) await service.stop();

  for (const [index, name] of names.entries()) {
    if (imageState(images[name]) !== before[index]) throw new Error(`leads-${name} wrote into its image`);
  }
}

/** Starts the command of an image, and waits until its HEALTHCHECK succeeds. */
async function start(
  name: Name,
  image: Image,
  settings: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { url: string; stop: () => Promise<void> }> {
  const prefix = name.toUpperCase();
  const port = await freePort();
  // The image listens on every address, but a check needs only the local one.
  const env = {
    ...settings,
    [`${prefix}_HOST`]: '127.0.0.1',
    [`${prefix}_PORT`]: String(port),
    SHUTDOWN_DELAY_MS: '0',
  };
  const isHealthy = async () => {
    const { code } = await runImage(image, { command: image.healthcheck, env }).exited;
    return code === 0;
  };
  if (await isHealthy()) throw new Error(`leads-${name}: HEALTHCHECK succeeds before the service runs`);
  const service = runImage(image, { env });
  await service.waitUntilReady(isHealthy, healthyTimeoutMs);
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => service.kill(),
    async stop() {
      await service.stop();
      const { code } = await service.exited;
      if (code !== 0)
        throw new Error(`leads-${name} does not stop with code 0:
${service.output()}`);
    },
  };
}

async function submitLead(intake: string, apiKey: string): Promise<string> {
  const response = await fetch(`${intake}/api/v1/leads`, {
    method: 'POST',
    headers: { API_KEY: apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada Lovelace', phone: '+44 20 7946 0958' }),
  });
  const answer = (await response.json()) as { order_id?: string };
  if (answer.order_id === undefined) throw new Error(`The intake answers ${JSON.stringify(answer)}`);
  return answer.order_id;
}

async function findLead(
  crm: string,
  { apiKey, accessToken }: { apiKey: string; accessToken: string },
  id: string,
): Promise<void> {
  const response = await fetch(`${crm}/api/v1/order/leads`, {
    headers: { API_KEY: apiKey, authorization: `Bearer ${accessToken}` },
  });
  const answer: unknown = await response.json();
  if (!Array.isArray(answer) || answer.every((lead: { id: string }) => lead.id !== id)) {
    throw new Error(`The CRM does not list ${id}: ${JSON.stringify(answer)}`);
  }
}

async function expectPage(url: string, text: string): Promise<void> {
  const response = await fetch(url);
  const body = await response.text();
  if (!response.ok || !body.includes(text))
    throw new Error(`${url} answers ${response.status}: ${body.slice(0, 500)}`);
}

function printContents(name: Name, image: Image): void {
  const { components } = JSON.parse(
    readFileSync(join(image.root, image.workdir, 'sbom.cdx.json'), 'utf8'),
  ) as {
    components: unknown[];
  };
  const contents = listImageFiles(image);
  const total = {
    path: `leads-${name} without its base image, from ${components.length} packages`,
    files: contents.reduce((sum, { files }) => sum + files, 0),
    bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  console.log('');
  for (const { path, files, bytes } of [total, ...contents]) {
    console.log(
      `${(bytes / 1_000_000).toFixed(2).padStart(8)} MB  ${String(files).padStart(5)} files  ${path}`,
    );
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
