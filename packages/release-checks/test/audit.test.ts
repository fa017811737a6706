import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { expect, test } from 'vitest';

interface AuditResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `.ci/audit` with a registry that reports one advisory for fastify.
 *
 * @param severity of the advisory; if absent, the registry answers 405.
 */
async function audit(severity?: string): Promise<AuditResult> {
  const server = createServer((request, response) => {
    request.resume();
    const isAudit = request.url === '/-/npm/v1/security/advisories/bulk';
    if (isAudit && severity === undefined) response.writeHead(405).end();
    else if (isAudit) response.end(JSON.stringify({ fastify: [{ ...advisory, severity }] }));
    else if (request.url === '/fastify') response.end(JSON.stringify({ name: 'fastify', versions: {} }));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // npm caches advisories.
  const npm_config_cache = mkdtempSync(join(tmpdir(), 'leads-audit-'));
  const env = { ...process.env, npm_config_cache, npm_config_registry: `http://127.0.0.1:${port}/` };
  try {
    return await new Promise((resolve) => {
      execFile(join(repositoryRoot, '.ci/audit'), { env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(npm_config_cache, { recursive: true, force: true });
  }
}

const url = 'https://github.com/advisories/GHSA-0000-0000-0000';
const advisory = {
  id: 1,
  url,
  title: 'A title',
  vulnerable_versions: '>=1.0.0',
  cwe: [],
  cvss: { score: 0 },
};

test.each(['high', 'critical'])(
  'the audit fails on a %s advisory of an installed package',
  async (severity) => {
    expect(await audit(severity)).toEqual({
      code: 1,
      stdout: '1 advisories, 1 of them high or critical and not accepted\n',
      stderr: `${severity} advisory: fastify >=1.0.0: A title (${url})\n`,
    });
  },
  60_000,
);

test('the audit passes with a moderate advisory, and reports it', async () => {
  expect(await audit('moderate')).toEqual({
    code: 0,
    stdout: '1 advisories, 0 of them high or critical and not accepted\n',
    stderr: '',
  });
});

test('the audit reports that the registry provides no advisories', async () => {
  expect(await audit()).toEqual({
    code: 0,
    stdout: 'The registry provides no advisories: no package was checked\n',
    stderr: '',
  });
});
