import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readFileIfThere, writePrivateFile } from './private-file.ts';
import { runLeads } from './processes/run-leads.ts';

/** The content of `demo.json`: URLs, a sign-in to the website, and credentials for the APIs. */
export interface Demo {
  readonly website: string;
  readonly email: string;
  readonly password: string;
  readonly crm: string;
  readonly intake: string;
  readonly apiKey: string;
  readonly accessToken: string;
  readonly campaignCode: string;
}

const email = 'demo@example.com';
const workspace = 'demo';
const campaignCode = 'DEMO';

/**
 * Creates a demo workspace with a user, a campaign and credentials.
 * It keeps the credentials of `<dataDir>/demo.json` if the running services accept them. So it detects
 * another database, another secret, a revoked key, an expired token and a changed password. A workspace
 * without leads gets some.
 *
 * @param options.empty creates no leads.
 * @param options.env the environment of the operator's command line.
 */
export async function prepareDemo(options: {
  dataDir: string;
  crm: string;
  intake: string;
  empty: boolean;
  env: NodeJS.ProcessEnv & { DATABASE_URL: string };
}): Promise<Demo> {
  const { crm, intake, env } = options;
  const website = new URL(crm).origin;
  const file = join(options.dataDir, 'demo.json');
  const saved = parse(readFileIfThere(file));

  let credentials: { apiKey: string; accessToken: string };
  if (saved?.apiKey === undefined || !(await isKeyAccepted(intake, saved.apiKey))) {
    credentials = await makeWorkspace(env);
  } else {
    const { apiKey, accessToken } = saved;
    const isGood = accessToken !== undefined && (await isTokenAccepted(crm, apiKey, accessToken));
    credentials = { apiKey, accessToken: isGood ? accessToken : await makeToken(env) };
  }

  const password =
    saved?.password !== undefined && (await isPasswordAccepted(website, saved.password))
      ? saved.password
      : await choosePassword(website, env);

  const demo: Demo = { website, email, password, crm, intake, ...credentials, campaignCode };
  writePrivateFile(file, `${JSON.stringify(demo)}\n`);
  if (!options.empty && !(await hasLeads(demo))) {
    // The stores load slowly and are used once.
    const { addDemoLeads } = await import('./demo-leads.ts');
    await addDemoLeads(env.DATABASE_URL, workspace, new Date());
  }
  return demo;
}

function parse(text: string | undefined): Partial<Demo> | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Partial<Demo>);
  } catch {
    return undefined;
  }
}

/**
 * Checks an API key with an empty lead. The service checks credentials before the body and rejects an empty
 * lead, so the check creates nothing.
 */
async function isKeyAccepted(intake: string, apiKey: string): Promise<boolean> {
  const response = await fetch(`${intake}/v1/leads`, {
    method: 'POST',
    headers: { API_KEY: apiKey, 'Content-Type': 'application/json' },
    body: '{}',
  });
  await response.arrayBuffer();
  return response.status === 400;
}

async function isTokenAccepted(crm: string, apiKey: string, accessToken: string): Promise<boolean> {
  const response = await listOne({ crm, apiKey, accessToken });
  await response.arrayBuffer();
  return response.ok;
}

async function hasLeads(demo: Demo): Promise<boolean> {
  return ((await (await listOne(demo)).json()) as unknown[]).length > 0;
}

function listOne({
  crm,
  apiKey,
  accessToken,
}: Pick<Demo, 'crm' | 'apiKey' | 'accessToken'>): Promise<Response> {
  return fetch(`${crm}/v1/order/leads?limit=1`, {
    headers: { API_KEY: apiKey, Authorization: `Bearer ${accessToken}` },
  });
}

/** Sends the same request as the website. */
function postAsWebsite(website: string, path: string, body: object, cookie = ''): Promise<Response> {
  return fetch(`${website}/api/auth${path}`, {
    method: 'POST',
    headers: { Origin: website, 'Content-Type': 'application/json', Cookie: cookie },
    body: JSON.stringify(body),
  });
}

/** Checks the password by signing in, and signs out again. */
async function isPasswordAccepted(website: string, password: string): Promise<boolean> {
  const response = await postAsWebsite(website, '/sign-in/email', { email, password });
  await response.arrayBuffer();
  if (!response.ok) return false;
  const cookie = response.headers.getSetCookie().map((each) => each.split(';', 1)[0]);
  await (await postAsWebsite(website, '/sign-out', {}, cookie.join('; '))).arrayBuffer();
  return true;
}

/** Sets a password with a password link, as an operator creates it for a user. */
async function choosePassword(website: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { link } = (await runLeads(['user', 'password-link', '--email', email], env)) as { link: string };
  const password = randomBytes(12).toString('base64url');
  const token = new URL(link).searchParams.get('token');
  const response = await postAsWebsite(website, '/reset-password', { token, newPassword: password });
  if (!response.ok)
    throw new Error(`The demo password is rejected: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
  return password;
}

async function makeWorkspace(env: NodeJS.ProcessEnv) {
  const user = ['user', 'create', '--email', email, '--name', 'Demo', '--workspace', workspace];
  const creationError = await runLeads(user, env).then(
    () => undefined,
    (error: unknown) => error,
  );
  const [apiKey, accessToken] = await Promise.all([
    makeKey(env),
    makeToken(env),
    makeCampaign(env, creationError !== undefined),
  ]).catch((error: unknown) => {
    // The user may already exist. If not, the later commands fail because the user could not be created.
    throw creationError ?? error;
  });
  return { apiKey, accessToken };
}

async function makeCampaign(env: NodeJS.ProcessEnv, mayExist: boolean): Promise<void> {
  if (mayExist) {
    const campaigns = await runLeads(['campaign', 'list', '--workspace', workspace], env);
    if ((campaigns as { code: string }[]).some(({ code }) => code === campaignCode)) return;
  }
  const campaign = ['--workspace', workspace, '--code', campaignCode, '--name', 'Demo campaign'];
  await runLeads(['campaign', 'create', ...campaign], env);
}

async function makeKey(env: NodeJS.ProcessEnv): Promise<string> {
  const args = ['key', 'create', '--user', email, '--workspace', workspace, '--name', 'Demo key'];
  return ((await runLeads(args, env)) as { apiKey: string }).apiKey;
}

async function makeToken(env: NodeJS.ProcessEnv): Promise<string> {
  const args = ['token', 'create', '--user', email, '--workspace', workspace, '--name', 'Demo token'];
  return ((await runLeads([...args, '--lifetime', '365d'], env)) as { accessToken: string }).accessToken;
}
