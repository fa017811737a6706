import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compression } from 'vite-plugin-compression2';

export default defineConfig({
  plugins: [
    react(),
    // Ahead, once and as small as can be, instead of with every answer.
    compression({ algorithms: ['gzip', 'brotliCompress'], include: /\.(?:html|js|css|svg|webmanifest)$/ }),
  ],
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
