import { formatMs, formatTable, formatTimes } from '../table.ts';
import type { Comparison } from './compare.ts';
import { titleOf } from './contenders.ts';
import type { CrmFigures } from './crm.ts';
import type { EventsFigures } from './events.ts';
import type { IntakeFigures } from './measure.ts';
import type { OverloadFigures } from './overload.ts';
import type { PoisonFigures } from './poison.ts';
import type { SoakFigures } from './soak.ts';
import type { StartFigures } from './start.ts';

/** The figures as tables, ratios last. */
export function reportIntake(figures: IntakeFigures): string {
  const { comparison, overload, poison, events, soak, start, crm } = figures;
  const parts = [
    `On ${figures.cores} cores, shared by load, services and Postgres; Node ${figures.node}; ` +
      `Postgres: ${figures.settings.join(', ')}.\n` +
      `Medians of ${figures.rounds} rounds of ${figures.seconds} s each; workers of the intake: ${figures.workers}.`,
  ];
  if (overload !== undefined) parts.push(overloadTable(overload));
  if (poison !== undefined) parts.push(poisonTable(poison));
  if (events !== undefined) parts.push(eventsTable(events));
  if (soak !== undefined) parts.push(soakTable(soak));
  if (start !== undefined) parts.push(startTable(start));
  if (crm !== undefined) parts.push(crmTable(crm));
  if (comparison !== undefined) parts.push(contenderTable(comparison), ratioTable(comparison));
  return parts.join('\n\n');
}

function contenderTable({ figures }: Comparison): string {
  const rows = figures
    .toSorted((one, other) => one.connections - other.connections)
    .map(({ contender, connections, medians: each }) => [
      titleOf(contender),
      String(connections),
      whole(each.leadsPerSecond),
      formatMs(each.p50Ms),
      formatMs(each.p99Ms),
      formatMs(each.p999Ms),
      whole(each.serviceUs),
      whole(each.postgresUs),
      whole(each.peakMemory / 1_000_000),
      String(each.others),
    ]);
  if (!figures.some(({ contender }) => contender === 'pgbench')) rows.push(['pgbench is not installed']);
  const units = ['leads/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'service us/lead', 'Postgres us/lead', 'peak MB'];
  return formatTable(['one lead a request', 'connections', ...units, 'not 200'], rows);
}

function ratioTable({ ratios }: Comparison): string {
  const counts = [...new Set(ratios.map(({ connections }) => connections))];
  const names = [...new Set(ratios.map(({ name }) => name))];
  const rows = names.map((name) => {
    const those = ratios.filter((each) => each.name === name);
    return [name].concat(
      those.map(({ ratio }) => formatTimes(ratio)),
      those[0]?.asked ?? '',
    );
  });
  const head = counts.map((count) => `at ${count}`);
  return formatTable(['this intake', ...head, 'asked, at 64 if nothing else is said'], rows);
}

function overloadTable({ peak, half, triple, goodputShare, recovery }: OverloadFigures): string {
  const rows = Object.entries({
    'half of the peak': half,
    'three times the peak': triple,
    'half again': recovery,
  }).map(([name, at]) => [
    name,
    whole(at.offered),
    whole(at.goodput),
    formatMs(at.p50Ms),
    formatMs(at.p99Ms),
    formatStatuses(at.statuses),
    String(at.unsent),
  ]);
  return [
    formatTable(
      [
        `peak ${whole(peak)} leads/s`,
        'due/s',
        'answered with 200/s',
        'p50 ms',
        'p99 ms',
        'answers',
        'not sent',
      ],
      rows,
    ),
    `At three times the peak ${percent(goodputShare)} of it are answered (asked: 80 % or more); ` +
      'p99 at half of it is asked to be under 15 ms.',
  ].join('\n');
}

function poisonTable(poison: PoisonFigures): string {
  const rows = Object.entries({
    none: poison.without,
    'body that does not hold': poison.invalid,
    'row that Postgres refuses': poison.refused,
  }).map(([name, { p99Ms, slower, statuses, poisonStatuses }]) => [
    name,
    formatMs(p99Ms),
    formatTimes(slower),
    formatStatuses(statuses),
    formatStatuses(poisonStatuses),
  ]);
  return formatTable(
    [
      'poison, 1 lead of 100',
      "others' p99 ms",
      'slower (asked: 2 or less)',
      'answers to the others',
      'to the poison',
    ],
    rows,
  );
}

function eventsTable({ leadsPerSecond, leadsPerSecondWithout, ratio }: EventsFigures): string {
  return formatTable(
    ['events of leads', 'leads/s', 'of that without (asked: 0.9 or more)'],
    [
      ['noted in the outbox', whole(leadsPerSecond), formatTimes(ratio)],
      ['not noted', whole(leadsPerSecondWithout), ''],
    ],
  );
}

function soakTable(soak: SoakFigures): string {
  const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(2);
  return formatTable(
    [`soak of ${soak.minutes} minutes at ${soak.rate} leads/s`, '', 'asked'],
    [
      ['answers', formatStatuses(soak.statuses), '200 only'],
      ['not sent in time', String(soak.unsent), ''],
      ['heap after forced collections, first MB', megabytes(soak.heap[0] ?? Number.NaN), ''],
      ['last MB', megabytes(soak.heap.at(-1) ?? Number.NaN), ''],
      ['slope, MB an hour', megabytes(soak.heapSlope), 'under 1'],
      ['peak memory, MB', whole(soak.peakMemory / 1_000_000), 'under 200'],
      ['acknowledged leads', String(soak.acknowledged), ''],
      ['of them not stored', String(soak.missing), '0'],
      ['stored leads', String(soak.stored), 'as many as acknowledged'],
    ],
  );
}

function startTable({ starts, medianMs, slowestMs }: StartFigures): string {
  return formatTable(
    ['from node to the first answered lead', 'median ms (asked: under 700)', 'slowest'],
    [[`${starts} starts`, whole(medianMs), whole(slowestMs)]],
  );
}

function crmTable({ createP50Ms, prismaP50Ms, ratio }: CrmFigures): string {
  return formatTable(
    ['one create at a time', 'p50 ms', 'creates/s, of prisma.lead.create (asked: 1 or more)'],
    [
      ['create of the CRM', formatMs(createP50Ms), formatTimes(ratio)],
      ['prisma.lead.create', formatMs(prismaP50Ms), ''],
    ],
  );
}

function whole(value: number): string {
  return Number.isNaN(value) ? '-' : value.toFixed(0);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function formatStatuses(statuses: Readonly<Record<string, number>>): string {
  return (
    Object.entries(statuses)
      .map(([status, count]) => `${count} x ${status}`)
      .join(', ') || 'none'
  );
}
