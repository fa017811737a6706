import { once, setMaxListeners } from 'node:events';
import { type Attacker, attacks } from './attacks.ts';

/** The first message to the process, which answers when the attack has its full strength. The second one ends the attack. */
export interface AttackOrder {
  readonly attack: keyof typeof attacks;
  readonly attacker: Attacker;
}

/** The number of the attacker's answers by status, which the process sends at the end. */
export type AttackerStatuses = Record<string, number>;

const [{ attack, attacker }] = (await once(process, 'message')) as [AttackOrder];
const stop = new AbortController();
// Each held request listens to it.
setMaxListeners(0, stop.signal);
process.once('message', () => stop.abort());
// The process ends with the process that started it.
process.once('disconnect', () => process.exit());
const statuses: AttackerStatuses = {};
let answers = 0;
const { run, strongAfter } = attacks[attack];
await run(attacker, stop.signal, (status) => {
  statuses[status] = (statuses[status] ?? 0) + 1;
  answers += 1;
  if (answers === strongAfter) process.send?.('strong');
});
process.send?.(statuses, () => process.disconnect());
