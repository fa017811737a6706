import { percentile } from '../statistics.ts';
import { recordAnswer } from './answers.ts';
import type { LoadFigures, LoadOptions } from './load-process.ts';
import { createRequests } from './requests.ts';
import { type LoadAnswer, sendLoad } from './send-load.ts';

/*
 * The load process. Its parent sends a load over the IPC channel and receives the figures.
 */

/** Counts across loads, so each lead of this process is unique. */
let sent = 0;
let end = new AbortController();

async function send({ answersFile, ...load }: LoadOptions): Promise<LoadFigures> {
  const next = createRequests(load, sent);
  end = new AbortController();
  const { latenciesMs, ...figures } = await sendLoad({
    ...load,
    signal: end.signal,
    next: () => {
      sent++;
      return next();
    },
    onAnswer: answersFile === undefined ? undefined : (answer) => record(answersFile, answer),
  });
  return {
    ...figures,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    p999Ms: percentile(latenciesMs, 0.999),
  };
}

function record(answersFile: string, answer: LoadAnswer): void {
  const { status, latencyMs } = answer;
  const id = status === '200' ? acknowledgedId(answer.body()) : undefined;
  recordAnswer(answersFile, { at: Date.now(), latencyMs, status, id });
}

/** Returns the lead id in a response of the intake or of the CRM. */
function acknowledgedId(body: string): string {
  const answer = JSON.parse(body) as { order_id: string } | { lead: { id: string } };
  return 'lead' in answer ? answer.lead.id : answer.order_id;
}

process.on('message', (load: LoadOptions | 'end') => {
  if (load === 'end') end.abort();
  else void send(load).then((figures) => process.send?.(figures));
});
process.on('disconnect', () => process.exit());
