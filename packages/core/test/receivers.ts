import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A self-signed certificate, which is also its own CA, in PEM format. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Returns a new certificate for the host names. */
export function createCertificate(...hosts: string[]): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'certificate-'));
  try {
    const names = hosts.map((host) => `DNS:${host}`).join(',');
    const flags =
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=receiver -addext subjectAltName=${names} ` +
      '-keyout key.pem -out cert.pem';
    execFileSync('openssl', flags.split(' '), { cwd: directory, stdio: 'ignore' });
    const read = (file: string) => readFileSync(join(directory, file), 'utf8');
    return { cert: read('cert.pem'), key: read('key.pem') };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A server on a free port of all IPv4 addresses of this machine. */
export interface Receiver extends AsyncDisposable {
  readonly port: number;
  /** The number of connections so far. */
  connectionCount(): number;
  /** The number of open connections. */
  openCount(): number;
}

/** Starts an HTTP server, or an HTTPS server if there is a certificate. */
export async function startReceiver(listener: RequestListener, certificate?: Certificate): Promise<Receiver> {
  const server: HttpServer =
    certificate === undefined ? createHttpServer(listener) : createHttpsServer(certificate, listener);
  return listen(server);
}

/** Starts a TCP server. */
export async function startTcpReceiver(listener: (socket: Socket) => void): Promise<Receiver> {
  return listen(createServer(listener));
}

async function listen(server: Server): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    // A client may close the connection at any time.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connectionCount: () => connections,
    openCount: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
