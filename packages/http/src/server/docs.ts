import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import swagger from '@fastify/swagger';
import { ErrorBody } from '@leads/core/error-schema';
import { type TSchema, Type } from 'typebox';
import type { Server } from './create-server.ts';
import { errorResponses } from './errors.ts';
import type { browserKeyScheme, securitySchemes } from './guards.ts';
import { isBodyOptional } from './json-body.ts';
import { nameErrorResponses, nameSchemas } from './named-schemas.ts';
import { referenceRepairs } from './reference-repairs.ts';
import { pageHeadersOf } from './security-headers.ts';

const aboutErrors =
  'Errors have three fields. With `Accept: application/problem+json`, errors are problem details (RFC 9457), which list every invalid field.';

/** A schema of a text with the keyword `x-integer`. */
interface IntegerText {
  readonly 'x-integer'?: { readonly minimum: number; readonly maximum: number };
}

/**
 * Generates the OpenAPI 3.1 document from the schemas that validate requests. Call it before the routes are registered.
 *
 * @param info.title the name of the service.
 * @param info.description Markdown.
 * @param info.schemas the schemas that become components, by their names in the document.
 * @param info.securitySchemes the schemes of the operations, by their names in the document.
 */
export async function describeApi(
  app: Server,
  info: {
    title: string;
    description: string;
    tags: { name: string; description: string }[];
    schemas: Readonly<Record<string, TSchema>>;
    securitySchemes: Partial<typeof securitySchemes & { BrowserKey: typeof browserKeyScheme }>;
  },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: info.title,
        version: '1.0.0',
        description: `${info.description}\n\n${aboutErrors}`,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This service' }],
      tags: [...info.tags, { name: 'health', description: 'For load balancers and orchestrators.' }],
      components: { securitySchemes: info.securitySchemes },
    },
    // Shared schemas keep their names: generated clients name their types after them.
    refResolver: {
      buildLocalReference: ({ $id }, _baseUri, _fragment, index) =>
        typeof $id === 'string' ? $id : `Schema${index}`,
    },
    transformObject(generated) {
      if (!('openapiObject' in generated)) return generated.swaggerObject;
      const { openapiObject } = generated;
      for (const path of Object.values(openapiObject.paths ?? {})) {
        for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) {
          for (const parameter of path?.[method]?.parameters ?? []) {
            // A request is validated as text, and a client sends a number.
            const range = 'schema' in parameter && (parameter.schema as IntegerText)['x-integer'];
            if (range)
              Object.assign(parameter, {
                schema: { type: 'integer', ...range },
                example: Number(parameter.example),
              });
          }
          const body = path?.[method]?.requestBody;
          if (body === undefined || !('content' in body)) continue;
          const json = body.content['application/json'];
          // The library marks every body as required.
          if (json !== undefined && isBodyOptional(json.schema)) body.required = false;
        }
      }
      nameSchemas(openapiObject, { ErrorBody, ...info.schemas });
      nameErrorResponses(openapiObject);
      return openapiObject;
    },
  });
}

/**
 * Registers `/openapi.json` and `/docs`, an interactive API reference. The page loads files of this service only.
 *
 * @param about.title the name of the API, in the title of the page and above it.
 * @param about.credentials the security schemes that the routes require together. The reference asks the user for them.
 * @param about.links the website and the reference of the other service, shown above the reference.
 */
export async function docsRoutes(
  app: Server,
  about: {
    readonly title: string;
    readonly credentials: (keyof typeof securitySchemes)[];
    readonly links: readonly { readonly label: string; readonly href: string }[];
  },
): Promise<void> {
  const page = pageOf(about, {
    url: '/openapi.json',
    withDefaultFonts: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    telemetry: false,
    agent: { disabled: true },
    customCss: accessibleStyles,
    authentication: { preferredSecurityScheme: [about.credentials] },
  });
  const hidden = (content: TSchema) => ({
    config: { permission: 'public' as const },
    schema: { hide: true, response: { 200: content, ...errorResponses('unexpected') } },
    logLevel: 'warn' as const,
  });

  app.get('/openapi.json', hidden(Type.Unknown()), async () => app.swagger());

  app.get('/docs', hidden(Type.String()), async (_request, reply) =>
    reply.type('text/html; charset=utf-8').headers(pageHeaders).send(page),
  );

  let script: Promise<Buffer> | undefined;
  app.get('/docs/reference.js', hidden(Type.String()), async (_request, reply) => {
    script ??= loadScript();
    return reply
      .type('text/javascript; charset=utf-8')
      .header('content-encoding', 'gzip')
      .header('cache-control', 'public, max-age=86400')
      .send(await script);
  });
}

/** The example of an API key in the reference's library. No setting changes it. */
const foreignPlaceholder = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT';

/**
 * Loads the script of the API reference and the script that repairs it, compressed. The Fastify plugin of the package
 * takes 0.2 s to load.
 */
async function loadScript(): Promise<Buffer> {
  const entry = import.meta.resolve('@scalar/fastify-api-reference');
  const script = await readFile(new URL('./js/standalone.js', entry), 'utf8');
  return promisify(gzip)(script.replaceAll(foreignPlaceholder, 'Your API key') + referenceRepairs);
}

/**
 * Colors with enough contrast: the reference's own are too pale. The doubled class overrides the original styles. Users
 * who prefer reduced motion see none.
 */
const accessibleStyles = `
.service {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 20px;
  padding: 12px 16px;
  font: 14px/1.5 system-ui, sans-serif;
  color: #fff;
  background: #005f84;
}
.service strong {
  font-weight: 600;
}
.service a {
  color: #fff;
}
.light-mode.light-mode {
  --scalar-color-2: #575757;
  --scalar-color-3: #616161;
  --scalar-color-accent: #005f84;
  --scalar-color-blue: #005a9e;
  --scalar-color-green: #04603f;
  --scalar-color-orange: #963400;
  --scalar-color-purple: #5203d1;
  --scalar-color-red: #b00005;
  --scalar-color-yellow: #6b5200;
}
.dark-mode.dark-mode {
  --scalar-color-3: #a4a4a4;
  --scalar-color-red: #ff7b72;
}
@media (prefers-reduced-motion: reduce) {
  *,
  ::before,
  ::after {
    transition: none !important;
    animation: none !important;
    scroll-behavior: auto !important;
  }
}`;

/** The icon of the website: packages/website/public/icon.svg. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1c6e8c"/><path d="M9 8v16h14v-3.4H12.8V8z" fill="#fff"/><circle cx="20.5" cy="11.5" r="3.5" fill="#ffd166"/></svg>';

// The reference writes inline styles at run time. Scripts are this service's own files only.
const pageHeaders = pageHeadersOf([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]);

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const pageOf = (
  { title, links }: Pick<Parameters<typeof docsRoutes>[1], 'title' | 'links'>,
  configuration: object,
) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" type="image/svg+xml" href="data:image/svg+xml,${encodeURIComponent(icon)}">
    <style>${accessibleStyles}</style>
  </head>
  <body>
    <header class="service">
      <strong>${escapeHtml(title)}</strong>
      ${links.map(({ label, href }) => `<a href="${escapeHtml(href)}">${escapeHtml(label)}</a>`).join('\n      ')}
    </header>
    <script id="api-reference" data-configuration="${escapeHtml(JSON.stringify(configuration))}"></script>
    <script src="/docs/reference.js"></script>
  </body>
</html>
`;
