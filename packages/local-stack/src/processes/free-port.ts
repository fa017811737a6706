import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Ports below the ephemeral range, so the system never assigns them to outgoing connections. A test can close
 * such a port and listen on it again.
 */
const ports = { from: 10_240, below: 32_768 };
const blockSize = 64;

/** The ports that this process has reserved and not returned yet. */
let reserved: Iterator<number> = [][Symbol.iterator]();
let reservation: Promise<void> | undefined;

/**
 * Returns a TCP port that is free at this moment. No other process that calls this function gets the same port while
 * this process runs, so a server can be stopped and started again on its port.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const { value: port, done } = reserved.next();
    if (done === true) {
      reservation ??= reserveBlock().finally(() => (reservation = undefined));
      await reservation;
    } else if (await isPortFree(port, host)) return port;
  }
}

/**
 * Reserves a block of ports for this process. To listen on the first port of a block is the lock: the system
 * releases it when the process ends.
 */
async function reserveBlock(): Promise<void> {
  const blocks = Math.floor((ports.below - ports.from) / blockSize);
  const offset = process.pid % blocks;
  for (let i = 0; i < blocks; i++) {
    const first = ports.from + ((offset + i) % blocks) * blockSize;
    const lock = await tryListen(first, '127.0.0.1');
    if (lock === undefined) continue;
    lock.unref();
    reserved = Array.from({ length: blockSize - 1 }, (_, index) => first + 1 + index)[Symbol.iterator]();
    return;
  }
  throw new Error(`No block of free ports between ${ports.from} and ${ports.below}`);
}

/** Returns whether a server could listen on this port now. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = await tryListen(port, host);
  if (server === undefined) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** Listens on a port. Returns undefined if the port is in use. */
async function tryListen(port: number, host: string): Promise<Server | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
  return server;
}
