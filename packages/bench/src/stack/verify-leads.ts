import { Broker, eventStreamName } from '@leads/core/nats';
import type { RecordedAnswer } from '../load/answers.ts';
import { withClient } from './database.ts';

/** The state of acknowledged leads, and of the events of all leads. */
export interface Verification {
  readonly acknowledged: number;
  /** Acknowledged leads that are not in the table. */
  readonly lost: number;
  /** Rows with the click id of another row, and ids in two responses. Each request has its own click id. */
  readonly duplicated: number;
  /** The number of rows, acknowledged or not. */
  readonly stored: number;
  /** Versions of rows without an event in the stream. */
  readonly missingEvents: number;
  /** Events that are first delivered after an event of a later version of the same lead. */
  readonly disorderedEvents: number;
  /** Repeated deliveries of an event. */
  readonly repeatedEvents: number;
}

/**
 * Returns whether no lead or event is lost, duplicated, missing or out of order. Repeated events are
 * permitted.
 */
export function isIntact({ lost, duplicated, missingEvents, disorderedEvents }: Verification): boolean {
  return lost + duplicated + missingEvents + disorderedEvents === 0;
}

/**
 * Compares acknowledged leads with the table of leads and with the event stream.
 *
 * @throws Error if the database or the stream cannot be read.
 */
export async function verifyLeads(
  answers: readonly RecordedAnswer[],
  { databaseUrl, natsUrl }: { databaseUrl: string; natsUrl: string },
): Promise<Verification> {
  const acknowledged = answers.flatMap(({ id }) => id ?? []);
  const { versions, repeats } = await readTable(databaseUrl);
  const events = await readEvents(natsUrl);
  let missingEvents = 0;
  for (const [id, version] of versions) {
    const seen = events.seen.get(id) ?? 0;
    for (let each = 1; each <= version; each++) if ((seen & (1 << each)) === 0) missingEvents++;
  }
  return {
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((id) => !versions.has(id)).length,
    duplicated: repeats + acknowledged.length - new Set(acknowledged).size,
    stored: versions.size,
    missingEvents,
    disorderedEvents: events.disordered,
    repeatedEvents: events.repeated,
  };
}

/** Returns the version of each lead, and the number of leads whose click id another lead has. */
function readTable(databaseUrl: string): Promise<{ versions: ReadonlyMap<string, number>; repeats: number }> {
  return withClient(databaseUrl, async (client) => {
    const leads = await client.query<{ id: string; version: number }>('SELECT id, version FROM lead');
    const versions = new Map(leads.rows.map(({ id, version }) => [id, version]));
    const { rows } = await client.query<{ repeats: number }>(
      'SELECT (count(s1) - count(DISTINCT s1))::float8 AS repeats FROM lead',
    );
    return { versions, repeats: rows[0]?.repeats ?? 0 };
  });
}

const connectTimeoutMs = 10_000;

/** Returns the versions of each lead that have an event, as bits. No lead of a drill has 30 versions. */
async function readEvents(
  natsUrl: string,
): Promise<{ seen: ReadonlyMap<string, number>; disordered: number; repeated: number }> {
  const seen = new Map<string, number>();
  let [disordered, repeated] = [0, 0];
  await using broker = new Broker({ url: natsUrl, name: 'leads-bench' });
  if (!(await broker.connected(connectTimeoutMs))) throw new Error('NATS does not respond');
  const { state } = await (await broker.manager()).streams.info(eventStreamName);
  if (state.messages === 0) return { seen, disordered, repeated };
  const consumer = await broker.jetStream.consumers.get(eventStreamName);
  const messages = await consumer.consume({ max_messages: 1_000 });
  for await (const message of messages) {
    const { id } = message.json<{ id: string }>();
    const lead = id.slice(0, id.lastIndexOf('.'));
    const bit = 1 << Number(id.slice(id.lastIndexOf('.') + 1));
    const before = seen.get(lead) ?? 0;
    if ((before & bit) !== 0) repeated++;
    else if (before > bit) disordered++;
    seen.set(lead, before | bit);
    if (message.seq >= state.last_seq) break;
  }
  return { seen, disordered, repeated };
}
