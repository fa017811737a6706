import { connect } from 'node:net';

const timeoutMs = 1_000;

/**
 * Returns whether a server accepts connections on a port of 127.0.0.1.
 *
 * @param greeting the first bytes that the server sends; omit it for servers that send no greeting.
 */
export async function acceptsConnections(port: number, greeting = ''): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => settle(false));
    socket.once('error', () => settle(false));
    if (greeting === '') socket.once('connect', () => settle(true));
    else socket.once('data', (data) => settle(data.toString().startsWith(greeting)));
  });
}
