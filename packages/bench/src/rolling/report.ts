import { formatMs, formatTable } from '../table.ts';
import type { RollFigures } from './rolls.ts';
import { isUnnoticed, type TrafficReport } from './traffic.ts';
import type { UpgradeFigures } from './upgrade.ts';

/** What clients saw of both services, and what became of their leads. */
function trafficTables({ services, verdict }: TrafficReport): string[] {
  return [
    formatTable(
      ['service', 'requests', 'not 200', 'longest gap ms', 'slowest answer ms'],
      services.map(({ service, requests, others, longestGapMs, slowestMs }) => [
        service,
        String(requests),
        Object.entries(others)
          .map(([status, count]) => `${status}: ${count}`)
          .join(', ') || '0',
        formatMs(longestGapMs),
        formatMs(slowestMs),
      ]),
    ),
    formatTable(
      ['acknowledged', 'lost', 'duplicated', 'events missing', 'out of order', 'repeated'],
      [
        [
          verdict.acknowledged,
          verdict.lost,
          verdict.duplicated,
          verdict.missingEvents,
          verdict.disorderedEvents,
          verdict.repeatedEvents,
        ].map(String),
      ],
    ),
  ];
}

/** The figures of rolling restarts as tables. */
export function reportRolls(figures: RollFigures): string {
  const { cores, node, rate, rolls, restarts, services, proxyErrors } = figures;
  const most = (values: readonly number[]) => Math.max(...values);
  return [
    `${rolls} rolls of each service at ${rate} leads/s, two instances each behind nginx; on ${cores} cores, shared by all; Node ${node}.`,
    ...trafficTables(figures),
    formatTable(
      ['service', 'restarts', 'slowest stop ms', 'slowest start ms'],
      services.map(({ service }) => {
        const own = restarts.filter((restart) => restart.service === service);
        return [
          service,
          String(own.length),
          formatMs(most(own.map(({ stopMs }) => stopMs))),
          formatMs(most(own.map(({ startMs }) => startMs))),
        ];
      }),
    ),
    formatTable(
      ['nginx says', 'times'],
      Object.entries(proxyErrors).map(([what, times]) => [what, String(times)]),
    ),
    isUnnoticed(figures) ? 'Nobody noticed.' : 'IT WAS NOTICED.',
  ].join('\n\n');
}

/** Whether an upgrade went unnoticed, and the new services waited for the schema. */
export function isSmooth(figures: UpgradeFigures): boolean {
  return isUnnoticed(figures) && figures.waitForMigration !== false;
}

/** The figures of an upgrade as tables. */
export function reportUpgrade(figures: UpgradeFigures): string {
  const { cores, node, rate, from, migrations, migrateMs, waitForMigration } = figures;
  const waits = waitForMigration === true ? 'say that they are not ready' : 'SAY THAT THEY ARE READY';
  return [
    `From ${from}, at ${rate} leads/s behind nginx; on ${cores} cores, shared by all; Node ${node}.`,
    migrations.length === 0
      ? 'There is nothing to migrate.'
      : `Migrated in ${formatMs(migrateMs)} ms: ${migrations.join(', ')}. Before that the services of this release ${waits}.`,
    ...trafficTables(figures),
    isSmooth(figures) ? 'Nobody noticed.' : 'IT WAS NOTICED.',
  ].join('\n\n');
}
