import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { RunningService } from '@leads/test-kit/running-service';
import { expect } from 'vitest';

/**
 * Sends GET requests, and disconnects their clients before the responses. Returns when the service has seen that.
 *
 * @param isHeld returns whether all requests wait in the service. The clients then disconnect.
 */
export async function disconnectWhile(
  service: RunningService,
  requests: readonly { readonly path: string; readonly headers: Readonly<Record<string, string>> }[],
  isHeld: () => boolean | Promise<boolean>,
): Promise<void> {
  const ids = requests.map(() => randomUUID());
  const clients = requests.map(({ path, headers }, i) =>
    request({
      host: '127.0.0.1',
      port: service.port,
      path,
      headers: { ...headers, 'X-Request-Id': ids[i] },
      agent: false,
    })
      .on('error', () => undefined)
      .end(),
  );
  await expect.poll(isHeld).toBe(true);
  for (const client of clients) client.destroy();
  const disconnected = () =>
    service.logs
      .entries()
      .filter(({ msg }) => msg === 'The client disconnected during the request')
      .map(({ reqId }) => reqId);
  await expect.poll(disconnected).toEqual(expect.arrayContaining(ids));
}
