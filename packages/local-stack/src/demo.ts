import { join } from 'node:path';
import { readFileIfThere, writePrivateFile } from './private-file.ts';
import { runLeads } from './run-leads.ts';

/** What `demo.json` says: where the services are, and credentials to try them with. */
export interface Demo {
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
 * Makes a demo workspace with a user, a campaign and credentials, or finds that those of `<dataDir>/demo.json`
 * are still good: the running services are asked, so another database, another secret, a revoked key and an
 * expired token all show.
 *
 * @param options.env what the operator's command line needs.
 */
export async function prepareDemo(options: {
  dataDir: string;
  crm: string;
  intake: string;
  env: NodeJS.ProcessEnv;
}): Promise<Demo> {
  const { crm, intake, env } = options;
  const file = join(options.dataDir, 'demo.json');
  const kept = parse(readFileIfThere(file));

  let credentials: { apiKey: string; accessToken: string };
  if (kept?.apiKey === undefined || !(await isKeyAccepted(intake, kept.apiKey))) {
    credentials = await makeWorkspace(env);
  } else {
    const { apiKey, accessToken } = kept;
    const isGood = accessToken !== undefined && (await isTokenAccepted(crm, apiKey, accessToken));
    credentials = { apiKey, accessToken: isGood ? accessToken : await makeToken(env) };
  }

  const demo: Demo = { crm, intake, ...credentials, campaignCode };
  writePrivateFile(file, `${JSON.stringify(demo)}\n`);
  return demo;
}

function parse(text: string | undefined): Partial<Demo> | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Partial<Demo>);
  } catch {
    return undefined;
  }
}

/** Credentials are checked before the body, and an empty lead is refused: so nothing is created by asking. */
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
  const response = await fetch(`${crm}/v1/order/leads?limit=1`, {
    headers: { API_KEY: apiKey, Authorization: `Bearer ${accessToken}` },
  });
  await response.arrayBuffer();
  return response.ok;
}

async function makeWorkspace(env: NodeJS.ProcessEnv) {
  const user = ['user', 'create', '--email', email, '--name', 'Demo', '--workspace', workspace];
  const refusal = await runLeads(user, env).then(
    () => undefined,
    (error: unknown) => error,
  );
  const [apiKey, accessToken] = await Promise.all([
    makeKey(env),
    makeToken(env),
    makeCampaign(env, refusal !== undefined),
  ]).catch((error: unknown) => {
    // The user may be there from before. If not, what follows fails because it could not be made.
    throw refusal ?? error;
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
