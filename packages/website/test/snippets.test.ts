import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { provideProgram, unpackedDirectory } from '@leads/local-stack/processes/debian-package';
import { findChromium } from '@leads/local-stack/processes/find-chromium';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { crmRequest, type ExampleRequest, intakeRequest, mask } from '../src/examples/example-request.ts';
import { writeSnippet } from '../src/examples/snippets.ts';

const run = promisify(execFile);

/** Quotes, escapes and expansions of all the languages, and the end tag of a script. */
const hostile = `'"\\ $HOME \`id\` $(id) %s @x </script><b> & é 😀 \\' \\n {$x}`;

const received: { url: string; headers: IncomingHttpHeaders; body: string }[] = [];
let page = '';
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received.push({
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    });
    response.setHeader('content-type', 'application/json').end('{"success":true}');
  });
});
let api = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
});
beforeEach(() => received.splice(0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The Debian 12 packages of PHP and curl, with their libraries, for machines that lack them. */
const phpPackages = [
  'php8.2-cli',
  'php8.2-curl',
  'libargon2-1',
  'libcurl4',
  'libedit2',
  'libicu72',
  'libmagic1',
  'libsodium23',
  'libxml2',
];

async function runPhp(snippet: string): Promise<void> {
  const php = await provideProgram('usr/bin/php8.2', phpPackages);
  const unpacked = join(unpackedDirectory('php8.2-cli'), 'usr/lib');
  const curl = join(unpacked, 'php/20220829/curl.so');
  const extension = existsSync(curl) ? curl : 'curl';
  const ran = run(php, ['-n', '-d', `extension=${extension}`], {
    env: { ...process.env, LD_LIBRARY_PATH: join(unpacked, 'x86_64-linux-gnu') },
  });
  ran.child.stdin?.end(snippet);
  await ran;
}

/** Special characters that are valid in headers in all languages. */
const secrets = { apiKey: `lk_'"$HOME\`id\`\\`, accessToken: `a'b"$(id)` };
const hostileRequest = (): ExampleRequest =>
  crmRequest({ crm: api }, secrets, { campaignCode: hostile, name: 'Ada' });

describe('a code example', () => {
  test.each([
    ['curl', (snippet: string) => run('sh', ['-c', snippet])],
    ['javascript', (snippet: string) => run(process.execPath, ['--input-type=module', '--eval', snippet])],
    ['python', async (snippet: string) => run(await provideProgram('usr/bin/python3'), ['-c', snippet])],
    ['php', runPhp],
  ] as const)('in %s sends special characters unchanged', async (language, execute) => {
    await execute(writeSnippet(language, hostileRequest()));
    expect(received).toHaveLength(1);
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ campaignCode: hostile, name: 'Ada' });
    expect(received[0]?.headers).toMatchObject({
      api_key: secrets.apiKey,
      authorization: `Bearer ${secrets.accessToken}`,
      'content-type': 'application/json',
    });
  });

  test('in HTML sends the entered values of the form', async () => {
    const hostileKey = `lk_</form>&amp;"'+%41#?=é`;
    page = `<!doctype html><meta charset="utf-8"><title>A landing page</title>${writeSnippet(
      'html',
      intakeRequest(
        api,
        { apiKey: hostileKey },
        { name: 'Ada', phone: '+1' },
        `https://offer.example/"><script>&amp;`,
      ),
    )}`;
    await using browser = await chromium.launch({
      executablePath: await findChromium(),
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    });
    const tab = await browser.newPage();
    await tab.goto(new URL('/', api).href);
    await tab.getByLabel('name').fill('Ada "Countess" <Lovelace>');
    await tab.getByLabel('phone').fill('+12025550147');
    await tab.getByRole('button', { name: 'Send' }).click();
    await tab.getByText('"success":true').waitFor();
    expect(new URL(received[0]?.url ?? '', api).searchParams.get('API_KEY')).toBe(hostileKey);
    expect(received[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(received[0]?.body))).toEqual({
      name: 'Ada "Countess" <Lovelace>',
      phone: '+12025550147',
      redirect: `https://offer.example/"><script>&amp;/`,
      _gotcha: '',
    });
  });
});

test('mask hides all but the beginning of a secret and keeps a placeholder', () => {
  expect(mask('lk_3fT9aQ1zXXXXXXXXXXXXXXXXXXXX')).toBe('lk_3fT9aQ1z••••••••');
  expect(mask('eyJhbGciOiJIUzI1NiJ9.payload.signature')).toBe('eyJh••••••••');
  expect(mask('<API_KEY>')).toBe('<API_KEY>');
});
