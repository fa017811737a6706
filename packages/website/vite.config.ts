import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compression } from 'vite-plugin-compression2';
import { firstPaint } from './first-paint-plugin.ts';
import { groupSharedModules } from './shared-modules-plugin.ts';

export default defineConfig({
  plugins: [
    react(),
    groupSharedModules(),
    firstPaint(),
    // The build compresses each file once, at the highest level, so that the service does not compress responses.
    compression({ algorithms: ['gzip', 'brotliCompress'], include: /\.(?:html|js|css|svg|webmanifest)$/ }),
  ],
  // The development server forwards API requests to the CRM service. It keeps the Host header, because the service
  // accepts only pages of the host that the request names.
  server: {
    host: '127.0.0.1',
    proxy: {
      '^/(api|docs|health|openapi.json)': {
        target: process.env['CRM_URL'] ?? 'http://127.0.0.1:3000',
        changeOrigin: false,
      },
    },
  },
  build: {
    target: 'es2022',
    // Source maps decode the stack traces in the service's log. They are not served.
    sourcemap: 'hidden',
    // An inlined file would have no content hash in its name.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Tests compute the size of each page's scripts from the manifest. It is not served.
    manifest: true,
  },
});
