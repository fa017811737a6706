import { expect, test, vi } from 'vitest';

test('freePort() never returns the same port to two processes', async () => {
  // Copies of a module simulate processes: they share nothing but the ports.
  const copies = [];
  for (let copy = 0; copy < 4; copy++) {
    vi.resetModules();
    copies.push(await import('./free-port.ts'));
  }
  const ports = [];
  for (let i = 0; i < 600; i++) ports.push(await copies[i % copies.length]?.freePort());
  expect(new Set(ports).size).toBe(600);
});
