import { type LoadFigures, sumCounts, summarizeLoads } from '../load/load-process.ts';
import { rejectedName } from '../load/requests.ts';
import { checkpoint, query, removeLeads } from '../stack/database.ts';
import { measureInTurn, medianRatio } from '../statistics.ts';
import { type Bench, openIntake, usualConnections } from './bench.ts';

/**
 * Measures valid leads alone, and with one rejected lead in 100. The lead is rejected by validation, or by a
 * database constraint that the service does not check.
 */
export async function measureRejectedLeads(bench: Bench) {
  const { load, postgres, rounds, durationMs } = bench;
  await using intake = await openIntake(bench, 'rejected');
  const { databaseUrl, target } = intake;
  const causes = ['nothing', 'validation', 'database'] as const;
  const measured = await measureInTurn(causes, rounds, async (cause) => {
    await removeLeads(databaseUrl);
    await query(databaseUrl, 'ALTER TABLE lead DROP CONSTRAINT IF EXISTS bench_rejection');
    if (cause === 'database') {
      const check = `CHECK (name <> '${rejectedName}')`;
      await query(databaseUrl, `ALTER TABLE lead ADD CONSTRAINT bench_rejection ${check}`);
    }
    await checkpoint(postgres);
    const rejectedBy = cause === 'nothing' ? undefined : cause;
    return load.send({ ...target, connections: usualConnections, durationMs, rejectedBy });
  });
  const [alone = []] = measured;
  const figuresOf = (rejectedBy: string, loads: readonly LoadFigures[]) => ({
    rejectedBy,
    ...summarizeLoads(loads),
    rejectionStatuses: sumCounts(loads.map(({ rejectionStatuses }) => rejectionStatuses)),
    /** p99 of valid leads, as a multiple of p99 without rejected leads. */
    slowdown: medianRatio(
      loads.map(({ p99Ms }) => p99Ms),
      alone.map(({ p99Ms }) => p99Ms),
    ),
  });
  return causes.map((cause, at) => figuresOf(cause, measured[at] ?? []));
}
