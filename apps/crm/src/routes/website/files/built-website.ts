import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pageHeadersOf } from '@leads/http/server/security-headers';

/** The directory of the built website. */
export const websiteDirectory = dirname(
  createRequire(import.meta.url).resolve('@leads/website/dist/index.html'),
);

/** The script in the document of the website, as a source of the content security policy. */
const documentScripts = [
  ...readFileSync(join(websiteDirectory, 'index.html'), 'utf8').matchAll(/<script>(.*?)<\/script>/gs),
].map(([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);

// The component library writes inline styles at run time. Scripts are this service's own files, and the script in the
// document, which is known by its hash.
export const pageHeaders = pageHeadersOf([
  "default-src 'none'",
  ["script-src 'self'", ...documentScripts].join(' '),
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
]);

/** The paths of the pages of a workspace, which follow `/w/` and its slug. The website redirects from the path alone. */
const workspacePages = [
  '/',
  '/overview',
  '/leads',
  '/campaigns',
  '/campaigns/:id',
  '/statements',
  '/payments',
  '/payments/:id',
  '/members',
  '/integrations',
  '/webhooks/:id',
  '/postbacks/:id',
  '/audit',
  '/developers',
  '/profile',
] as const;

/** The paths of the website's pages. All of them return the same document, whose script renders the page. */
export const websitePages = [
  ...workspacePages,
  ...workspacePages.map((page) => `/w/:workspace${page}`.replace(/\/$/, '')),
  '/sign-in',
  '/sign-up',
  '/forgot-password',
  '/reset-password',
  '/verify-email',
  '/invitations/:id',
  '/integration/:token',
];

/**
 * Lists the names of the website's scripts, styles and fonts. A name contains a hash of the content:
 * `index-gNgI83Hh.js`.
 */
export function listAssets(): string[] {
  return readdirSync(join(websiteDirectory, 'assets')).filter((name) => !/\.(?:br|gz|map)$/.test(name));
}

/** Lists the names of the website's scripts. */
export function listScripts(): string[] {
  return listAssets().filter((name) => name.endsWith('.js'));
}
