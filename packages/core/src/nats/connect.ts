import type { ConnectionOptions, NatsConnection } from 'nats';
import { NatsConnectionImpl, setTransportFactory } from 'nats/lib/src/nats-base-client.js';
import { NodeTransport, nodeResolveHost } from 'nats/lib/src/node_transport.js';

/**
 * The client's own transport leaves a connection open if the server accepts it and sends nothing, such as a paused server.
 * The client then opens another connection every 2.5 s, and a command does not end.
 */
class ClosingTransport extends NodeTransport {
  override close(error?: Error): Promise<void> {
    if (!this.connected) this.socket?.destroy();
    return super.close(error);
  }
}

/** Connects to NATS as `connect` of the client does, with {@link ClosingTransport}. */
export function connect(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new ClosingTransport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options);
}
