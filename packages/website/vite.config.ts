import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compression } from 'vite-plugin-compression2';

export default defineConfig({
  plugins: [
    react(),
    // Ahead, once and as small as can be, instead of with every answer.
    compression({ algorithms: ['gzip', 'brotliCompress'], include: /\.(?:html|js|css|svg|webmanifest)$/ }),
  ],
  // While it is being changed, everything but its own files is what the CRM service answers, which takes pages of
  // the host that a request names for its own: so that stays.
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
    // To read the stack traces in the service's log by; not served.
    sourcemap: 'hidden',
    // An inlined file is one that no hash names.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What a page loads is reckoned up by it in the tests; not served.
    manifest: true,
  },
});
