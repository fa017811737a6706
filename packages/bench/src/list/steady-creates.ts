import { type Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const everyMs = 20;
const body = JSON.stringify({ campaignCode: 'C0', name: 'Ada Lovelace', phone: '+44 20 7946 0958' });

/** One create after the other, at most one in {@link everyMs}. @returns how long each took, in milliseconds. */
export async function createSteadily(
  port: number,
  headers: Record<string, string>,
  agent: Agent,
  until: AbortSignal,
): Promise<number[]> {
  const times: number[] = [];
  while (!until.aborted) {
    const start = performance.now();
    await createLead(port, headers, agent);
    const tookMs = performance.now() - start;
    times.push(tookMs);
    await sleep(Math.max(0, everyMs - tookMs));
  }
  return times;
}

/** @returns its id. @throws Error for an answer that is not 200. */
export async function createLead(
  port: number,
  headers: Record<string, string>,
  agent: Agent,
): Promise<string> {
  const options = {
    host: '127.0.0.1',
    port,
    path: '/api/v1/order/leads',
    method: 'POST',
    agent,
    headers: { ...headers, 'Content-Type': 'application/json' },
  };
  const text = await new Promise<string>((resolve, reject) => {
    request(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`A create is answered with ${response.statusCode}`));
      let answer = '';
      response
        .setEncoding('utf8')
        .on('data', (part: string) => (answer += part))
        .on('end', () => resolve(answer))
        .on('error', reject);
    })
      .on('error', reject)
      .end(body);
  });
  return (JSON.parse(text) as { lead: { id: string } }).lead.id;
}
