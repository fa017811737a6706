import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Sees what passes through one connection, right after it was passed on, and may have the connection cut. */
export interface ProxyTap {
  /** @returns true to cut the connection; the server still gets these bytes. */
  sent(bytes: Buffer): boolean;
  /** @returns true to cut the connection; the client does not get these bytes. */
  answered(bytes: Buffer): boolean;
}

/** A TCP proxy on 127.0.0.1 that does to connections what networks do. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Where connections that are made from now on lead to: a port of 127.0.0.1. */
  leadTo(port: number): void;
  /** Resets all connections. */
  cut(): void;
}

/**
 * Starts a proxy.
 *
 * @param options.port where it leads to.
 * @param options.tap makes one for each connection.
 */
export async function startTcpProxy(options: { port: number; tap?: () => ProxyTap }): Promise<TcpProxy> {
  let target = options.port;
  const links = new Set<Link>();
  const server = createServer((client) => {
    const link = new Link(client, connect(target, '127.0.0.1'), options.tap?.());
    links.add(link);
    client.once('close', () => links.delete(link));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const link of links) link.cut();
  };
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port) {
      target = port;
    },
    cut,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}

/** A client's connection and the one to the server: what ends one ends the other. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;

  constructor(client: Socket, server: Socket, tap: ProxyTap | undefined) {
    this.#client = client;
    this.#server = server;
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // What went wrong is told by the close that follows.
      socket.on('error', () => undefined);
    }
    this.#pass(client, server, (bytes) => {
      server.write(bytes);
      if (tap?.sent(bytes) === true) this.cut();
    });
    this.#pass(server, client, (bytes) => {
      if (tap?.answered(bytes) === true) this.cut();
      else client.write(bytes);
    });
  }

  #pass(from: Socket, to: Socket, onBytes: (bytes: Buffer) => void): void {
    from.on('data', (bytes: Buffer) => {
      if (to.destroyed) return;
      onBytes(bytes);
      if (to.writableLength > to.writableHighWaterMark) from.pause();
    });
    to.on('drain', () => from.resume());
    from.once('end', () => to.end());
    from.once('close', () =>
      from === this.#server && from.errored !== null ? to.resetAndDestroy() : to.end(),
    );
  }

  /** A reset for the client; the server gets what was sent to it, and then the end. */
  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.end();
  }
}
