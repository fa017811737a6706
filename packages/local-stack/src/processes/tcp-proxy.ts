import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Observes the bytes of one connection after they are forwarded, and can cut the connection. */
export interface ProxyTap {
  /**
   * Called with bytes of the client. @returns true to cut the connection; the server still receives these
   * bytes.
   */
  sent(bytes: Buffer): boolean;
  /**
   * Called with bytes of the server. @returns true to cut the connection; the client does not receive these
   * bytes.
   */
  answered(bytes: Buffer): boolean;
}

/** A TCP proxy on 127.0.0.1 that can redirect and reset connections. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Sets the port on 127.0.0.1 that new connections are forwarded to. */
  leadTo(port: number): void;
  /** Resets all connections. */
  cut(): void;
}

/**
 * Starts a TCP proxy.
 *
 * @param options.port the port on 127.0.0.1 to forward to.
 * @param options.tap called for each connection to create its tap.
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

/** A connection of a client and its connection to the server. If one ends, the other is closed. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;

  constructor(client: Socket, server: Socket, tap: ProxyTap | undefined) {
    this.#client = client;
    this.#server = server;
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // The close event that follows handles the error.
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

  /** Resets the client's connection; the server receives the bytes already sent, and then the end. */
  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.end();
  }
}
