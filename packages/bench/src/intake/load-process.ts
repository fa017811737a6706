import { closeSync, createWriteStream, openSync, writeSync } from 'node:fs';
import { once } from 'node:events';
import { type LoadAnswer, sendLoad } from '../load.ts';
import { percentile } from '../statistics.ts';
import { createLeadRequests } from './lead-requests.ts';
import type { LeadLoad, LeadLoadFigures } from './load.ts';

/*
 * Sends leads, as a process of its own, so that its processor time is nobody else's: started with an IPC channel,
 * over which it is told what to send and tells what came of it.
 */

/** No two leads of this process are the same, whatever the load they belong to. */
let sent = 0;

/** Ends the load under way. */
let ending = new AbortController();

async function send({ idsFile, answersFile, ...load }: LeadLoad): Promise<LeadLoadFigures> {
  const ids = idsFile === undefined ? undefined : createWriteStream(idsFile, { flags: 'a' });
  const answers = answersFile === undefined ? undefined : openSync(answersFile, 'a');
  const next = createLeadRequests(load, sent);
  ending = new AbortController();
  const { latenciesMs, ...figures } = await sendLoad({
    ...load,
    signal: ending.signal,
    next: () => {
      sent++;
      return next();
    },
    onAnswer(answer) {
      // At once, and not by a stream: what is counted later is what was in the file by then.
      if (answers !== undefined) writeSync(answers, answerLine(answer));
      if (answer.status === '200') ids?.write(`${orderId(answer)}\n`);
    },
  });
  if (ids !== undefined) await once(ids.end(), 'close');
  if (answers !== undefined) closeSync(answers);
  return {
    ...figures,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    p999Ms: percentile(latenciesMs, 0.999),
  };
}

/** When it came, how long it took, both in milliseconds, its status, and the id of what it acknowledges. */
function answerLine(answer: LoadAnswer): string {
  const id = answer.status === '200' ? ` ${orderId(answer)}` : '';
  return `${Date.now()} ${answer.tookMs.toFixed(1)} ${answer.status}${id}\n`;
}

function orderId(answer: LoadAnswer): string {
  const body = JSON.parse(answer.body()) as { order_id: string } | { lead: { id: string } };
  return 'lead' in body ? body.lead.id : body.order_id;
}

process.on('message', (load: LeadLoad | 'end') => {
  if (load === 'end') ending.abort();
  else void send(load).then((figures) => process.send?.(figures));
});
// Whoever started it is gone.
process.on('disconnect', () => process.exit());
