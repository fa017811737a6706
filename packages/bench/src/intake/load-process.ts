import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { sendLoad } from '../load.ts';
import { percentile } from '../statistics.ts';
import { createLeadRequests } from './lead-requests.ts';
import type { LeadLoad, LeadLoadFigures } from './load.ts';

/*
 * Sends leads, as a process of its own, so that its processor time is nobody else's: started with an IPC channel,
 * over which it is told what to send and tells what came of it.
 */

/** No two leads of this process are the same, whatever the load they belong to. */
let sent = 0;

async function send({ idsFile, ...load }: LeadLoad): Promise<LeadLoadFigures> {
  const ids = idsFile === undefined ? undefined : createWriteStream(idsFile, { flags: 'a' });
  const next = createLeadRequests(load, sent);
  const { latenciesMs, ...figures } = await sendLoad({
    ...load,
    next: () => {
      sent++;
      return next();
    },
    onBody: ids && ((body) => ids.write(`${(JSON.parse(body) as { order_id: string }).order_id}\n`)),
  });
  if (ids !== undefined) await once(ids.end(), 'close');
  return {
    ...figures,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    p999Ms: percentile(latenciesMs, 0.999),
  };
}

process.on('message', (load: LeadLoad) => {
  void send(load).then((figures) => process.send?.(figures));
});
