import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';

/** The address of the attacker, so that the limits of an address do not include the neighbor. */
export const attackerAddress = '127.0.0.2';

export interface Sent {
  readonly port: number;
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Keeps up to `connections` connections open. */
export function createAgent(connections: number, localAddress?: string): Agent {
  return new Agent({
    keepAlive: true,
    maxSockets: connections,
    ...(localAddress !== undefined && { localAddress }),
  });
}

/** Opens a request and returns it with its response, whose body is still to be read. */
export function openRequest(
  agent: Agent,
  { body, ...options }: Sent,
): { readonly outgoing: ClientRequest; readonly response: Promise<IncomingMessage> } {
  const outgoing = request({ host: '127.0.0.1', agent, ...options });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject);
  });
  // A caller may end the request without reading the response.
  response.catch(() => undefined);
  if (body !== undefined) outgoing.write(body);
  return { outgoing, response };
}

/** Sends a request and reads the response. @returns the status, or `broken` if the connection ended early. */
export async function exchange(agent: Agent, sent: Sent): Promise<string> {
  try {
    const { outgoing, response } = openRequest(agent, sent);
    outgoing.end();
    const answer = await response;
    for await (const _ of answer.resume()) continue;
    return String(answer.statusCode);
  } catch {
    return 'broken';
  }
}
