import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The open connections of a server. */
export class OpenConnections {
  /**
   * The response to the last request of each connection. One entry for each connection: an entry for each request would
   * cost the garbage collection measurable time.
   */
  readonly #last = new Map<Duplex, { response: ServerResponse | undefined }>();

  /** Watches the connections of a server that does not listen yet. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.#last.set(socket, { response: undefined });
      socket.once('close', () => this.#last.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      const last = this.#last.get(socket);
      if (last !== undefined) last.response = response;
    });
  }

  /** Returns the response to the last request of an open connection; undefined before its first request. */
  lastResponseOf(socket: Duplex): ServerResponse | undefined {
    return this.#last.get(socket)?.response;
  }

  /** Closes each connection that has no whole request to answer. */
  closeWaiting(): void {
    for (const [socket, { response }] of this.#last) {
      if (response?.req.complete !== true || response.writableFinished) socket.destroy();
    }
  }
}
