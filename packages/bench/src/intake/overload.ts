import { type LoadFigures, ratesOf, summarizeLoads } from '../load/load-process.ts';
import { checkpoint, removeLeads } from '../stack/database.ts';
import { median, medianRatio } from '../statistics.ts';
import { type Bench, measureMaxRate, openIntake } from './bench.ts';

/**
 * The number of connections in a burst of visitors. Fewer would delay due leads; more would exceed the listen
 * backlog.
 */
const connections = 1_000;

/** Sends leads at half of the maximum rate, at three times that rate, and at half again, in each round. */
export async function measureOverload(bench: Bench) {
  const { load, postgres, rounds, durationMs } = bench;
  await using intake = await openIntake(bench, 'overload');
  const maxRates: number[] = [];
  const half: LoadFigures[] = [];
  const triple: LoadFigures[] = [];
  const halfAgain: LoadFigures[] = [];
  for (let round = 0; round < rounds; round++) {
    await checkpoint(postgres);
    const maxRate = await measureMaxRate(bench, intake);
    maxRates.push(maxRate);
    const sendAt = (share: number) =>
      load.send({
        ...intake.target,
        connections,
        durationMs,
        rate: Math.max(1, Math.round(maxRate * share)),
      });
    half.push(await sendAt(0.5));
    triple.push(await sendAt(3));
    halfAgain.push(await sendAt(0.5));
    await removeLeads(intake.databaseUrl);
  }
  return {
    maxLeadsPerSecond: median(maxRates),
    /** The rate of responses with 200 at three times the maximum rate, as a share of the maximum rate. */
    goodputShare: medianRatio(ratesOf(triple), maxRates),
    loads: [
      { load: 'half of the maximum rate', ...summarizeLoads(half) },
      { load: 'three times the maximum rate', ...summarizeLoads(triple) },
      { load: 'half again', ...summarizeLoads(halfAgain) },
    ],
  };
}
