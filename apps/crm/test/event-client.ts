import { type IncomingMessage, request } from 'node:http';
import type { LeadEvent } from '@leads/core/event';

/** A block of Server-Sent Events. An empty line ends it. */
interface Block {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly comment?: string;
}

/** A client of Server-Sent Events that records all blocks and can pause reading. */
export interface EventClient {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** All blocks received so far. */
  readonly blocks: readonly Block[];
  /** Returns the events received so far. */
  events(): LeadEvent[];
  /** Returns the last received id, which a client sends as `Last-Event-ID`. */
  lastId(): string;
  /** Waits until `isMet` returns true. @throws Error with the received blocks on timeout. */
  until(isMet: () => boolean, timeoutMs?: number): Promise<void>;
  /** Waits for `count` events and returns all received events. */
  received(count: number, timeoutMs?: number): Promise<LeadEvent[]>;
  pause(): void;
  resume(): void;
  /** Resolves when the response ends: true if it is complete. */
  readonly ended: Promise<boolean>;
  close(): void;
}

/** Requests events and waits for the headers of the response. */
export function openEvents(
  port: number,
  headers: Readonly<Record<string, string>>,
  query: string = '',
): Promise<EventClient> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, path: `/api/v1/events${query}`, headers, agent: false },
      (incoming) => resolve(listen(incoming, () => outgoing.destroy())),
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function listen(incoming: IncomingMessage, close: () => void): EventClient {
  const blocks: Block[] = [];
  let text = '';
  incoming.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    blocks.push(...parts.map(parse));
  });
  incoming.on('error', () => undefined);
  const ended = new Promise<boolean>((resolve) => incoming.once('close', () => resolve(incoming.complete)));
  const events = () =>
    blocks.flatMap(({ event, data }) =>
      data === undefined || event === 'gone' ? [] : [JSON.parse(data) as LeadEvent],
    );
  const until = async (isMet: () => boolean, timeoutMs = 60_000) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    while (!isMet()) {
      if (timeout.aborted) throw new Error(`Timed out; received ${JSON.stringify(blocks).slice(-2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    blocks,
    events,
    lastId: () => blocks.findLast(({ id }) => id !== undefined)?.id ?? '',
    until,
    async received(count, timeoutMs) {
      await until(() => events().length >= count, timeoutMs);
      return events();
    },
    pause: () => incoming.pause(),
    resume: () => incoming.resume(),
    ended,
    close,
  };
}

function parse(block: string): Block {
  const fields = block.split('\n').map((line) => {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    return [name === '' ? 'comment' : name, value] as const;
  });
  return Object.fromEntries(fields);
}
