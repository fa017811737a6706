import { connect, type Socket } from 'node:net';

export interface Load {
  readonly requestsPerSecond: number;
  /** How long each answer took, in milliseconds, in no order. */
  readonly latenciesMs: number[];
}

/**
 * Sends one GET over and over on keep-alive connections, each as soon as the one before is answered. It looks at
 * no more of an answer than its status and length, since it shares the cores with what it measures.
 *
 * @throws Error for an answer that is not 200.
 */
export async function loadGet(options: {
  port: number;
  path: string;
  headers: Readonly<Record<string, string>>;
  connections: number;
  durationMs: number;
}): Promise<Load> {
  const lines = Object.entries({ Host: `127.0.0.1:${options.port}`, ...options.headers });
  const request = Buffer.from(
    `GET ${options.path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  const latenciesMs: number[] = [];
  const start = performance.now();
  const deadline = start + options.durationMs;
  const one = async () => {
    const socket = connect(options.port, '127.0.0.1');
    socket.setNoDelay(true);
    try {
      await exchange(socket, request, deadline, latenciesMs);
    } finally {
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: options.connections }, one));
  const seconds = (performance.now() - start) / 1000;
  return { requestsPerSecond: latenciesMs.length / seconds, latenciesMs };
}

/** Until the deadline, one request after the other. */
function exchange(socket: Socket, request: Buffer, deadline: number, latenciesMs: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = '';
    /** Bytes of the body that are still to come; undefined within the head. */
    let missing: number | undefined;
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      if (sentAt >= deadline) return resolve();
      head = '';
      missing = undefined;
      socket.write(request);
    };
    const fail = () => reject(new Error(`The service does not answer with 200: ${head.slice(0, 500)}`));
    socket.on('connect', send).on('error', reject).on('close', fail);
    socket.on('data', (data: Buffer) => {
      if (missing === undefined) {
        head += data.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
        if (!head.startsWith('HTTP/1.1 200') || length === undefined) return fail();
        missing = Number(length) - (head.length - end - 4);
      } else {
        missing -= data.length;
      }
      if (missing > 0) return;
      latenciesMs.push(performance.now() - sentAt);
      send();
    });
  });
}
