import { formatTable } from '../table.ts';
import { type DrillFigures, type FailedDrill, levelTimeoutMs } from './drill.ts';
import type { FaultFigures } from './measure.ts';

/** Whether a scenario came to its end with all promises kept. */
export function isKept(drill: DrillFigures | FailedDrill): boolean {
  if ('failure' in drill) return false;
  const { lost, duplicated, missingEvents, disorderedEvents, others, recoveryMs } = drill;
  return (
    lost + duplicated + missingEvents + disorderedEvents + others === 0 &&
    recoveryMs !== undefined &&
    recoveryMs < recoveryAskedMs
  );
}

const recoveryAskedMs = 60_000;

/** A table of the promises, a row a scenario, and what each scenario asks for beside them. */
export function reportFaults({ cores, node, isShort, syncAlways, drills }: FaultFigures): string {
  const done = drills.flatMap((drill) => ('failure' in drill ? [] : [drill]));
  const failed = drills.flatMap((drill) => ('failure' in drill ? [drill] : []));
  const parts = [
    `On ${cores} cores, shared by load, services, Postgres and NATS; Node ${node}.` +
      (isShort ? ' Short: seconds instead of minutes.' : '') +
      (syncAlways ? ' NATS is on disk before it acknowledges.' : ''),
  ];
  if (done.length > 0) parts.push(promiseTable(done), noteTable(done));
  if (failed.length > 0) {
    parts.push(
      formatTable(
        ['not tried to the end', 'why'],
        failed.map(({ scenario, failure }) => [scenario, failure]),
      ),
    );
  }
  parts.push(drills.every(isKept) ? 'All promises are kept.' : 'NOT ALL PROMISES ARE KEPT.');
  return parts.join('\n\n');
}

function promiseTable(drills: readonly DrillFigures[]): string {
  return formatTable(
    [
      'scenario',
      'leads/s due',
      'seconds',
      'acknowledged',
      'lost',
      'duplicated',
      'events missing',
      'out of order',
      'repeated',
      '503',
      'broken',
      'other answers',
      'longest gap s',
      'level again s',
    ],
    drills.map((drill) => [
      drill.scenario,
      String(drill.rate),
      drill.seconds.toFixed(0),
      String(drill.acknowledged),
      String(drill.lost),
      String(drill.duplicated),
      String(drill.missingEvents),
      String(drill.disorderedEvents),
      String(drill.repeatedEvents),
      String(drill.refused),
      String(drill.broken),
      String(drill.others),
      seconds(drill.longestGapMs),
      drill.recoveryMs === undefined ? `not in ${levelTimeoutMs / 1000}` : seconds(drill.recoveryMs),
    ]),
  );
}

function noteTable(drills: readonly DrillFigures[]): string {
  return formatTable(
    ['scenario', 'what', 'found', 'asked'],
    drills.flatMap(({ scenario, notes }) =>
      notes.map(({ name, found, asked = '' }, index) => [index === 0 ? scenario : '', name, found, asked]),
    ),
  );
}

function seconds(milliseconds: number): string {
  return Number.isNaN(milliseconds) ? '-' : (milliseconds / 1000).toFixed(1);
}
