import { connect } from 'node:net';

const timeoutMs = 1_000;

/**
 * Returns whether a server takes connections on a port of 127.0.0.1.
 *
 * @param greeting what the server has to send first; for servers that do not greet it is left out.
 */
export async function takesConnections(port: number, greeting = ''): Promise<boolean> {
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
