import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below the ephemeral range, so the system never assigns them to outgoing connections. A test can close
 * such a port and listen on it again.
 */
const ports = { from: 10_240, below: 32_768 };

/** Returns a TCP port that is free at this moment. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(ports.from, ports.below);
    if (await isPortFree(port, host)) return port;
  }
}

/** Returns whether a server could listen on this port now. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
