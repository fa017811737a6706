import type { ExportFigures } from './list/export.ts';
import type { IndexPrice } from './list/index-prices.ts';
import type { QueryFigures } from './list/queries.ts';
import type { RateFigures } from './list/rate.ts';
import type { ReplicaFigures } from './list/replica.ts';
import type { WebsiteFigures } from './list/website.ts';
import { formatSize } from './options.ts';
import { formatMs as ms, formatTable, formatTimes as times } from './table.ts';

/** Everything that `bench list` measures; what was not asked for is empty. */
export interface ListFigures {
  readonly cores: number;
  readonly queries: QueryFigures[];
  readonly rates: RateFigures[];
  readonly website: WebsiteFigures[];
  readonly indexes: IndexPrice[];
  readonly exports: ExportFigures[];
  readonly replica: ReplicaFigures[];
}

/** The figures as tables, ratios last. */
export function report({ cores, queries, rates, indexes, website, exports, replica }: ListFigures): string {
  const parts = [`On ${cores} cores, shared by load, service and Postgres.`];
  if (queries.length > 0) parts.push(queryTable(queries));
  if (indexes.length > 0) parts.push(indexTable(indexes));
  if (website.length > 0) parts.push(websiteTable(website));
  if (exports.length > 0) parts.push(exportTable(exports));
  if (replica.length > 0) parts.push(replicaTable(replica));
  if (rates.length > 0) parts.push(rateTable(rates));
  return parts.join('\n\n');
}

function queryTable(queries: readonly QueryFigures[]): string {
  const sizes = [...new Set(queries.map(({ leads }) => leads))];
  const names = [...new Set(queries.map(({ name }) => name))];
  const of = (name: string, leads: number) =>
    queries.find((figures) => figures.name === name && figures.leads === leads);
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  const rows = names.map((name) => {
    const figures = sizes.flatMap((leads) => [ms(of(name, leads)?.p50Ms), ms(of(name, leads)?.p99Ms)]);
    const growth = (of(name, largest)?.p50Ms ?? Number.NaN) / (of(name, smallest)?.p50Ms ?? Number.NaN);
    return [name].concat(figures, times(growth));
  });
  const head = sizes.flatMap((leads) => [`${formatSize(leads)} p50 ms`, 'p99 ms']);
  return formatTable(['query', ...head, `p50, ${formatSize(largest)} to ${formatSize(smallest)}`], rows);
}

function indexTable(indexes: readonly IndexPrice[]): string {
  const rows = indexes.map((price) => [
    price.index,
    `${Math.round(price.bytes / 1024 / 1024)}`,
    price.insertsWith.toFixed(0),
    price.insertsWithout.toFixed(0),
    `${(price.share * 100).toFixed(0)} %`,
    price.usedBy.join('; ') || 'none of these',
  ]);
  return formatTable(['index', 'MiB', 'inserts/s with it', 'without', 'its share', 'used by'], rows);
}

function websiteTable(website: readonly WebsiteFigures[]): string {
  const rows = website.map(({ name, leads, p50Ms, maxMs, samples, askedMs }) => [
    `${name}, ${formatSize(leads)} leads`,
    ms(p50Ms),
    ms(maxMs),
    String(samples),
    String(askedMs),
  ]);
  return formatTable(['website', 'p50 ms', 'max ms', 'samples', 'asked for, ms'], rows);
}

function exportTable(exports: readonly ExportFigures[]): string {
  const rows = exports.map((figures) => [
    `${figures.format}, ${formatSize(figures.leads)} leads`,
    String(figures.rows),
    figures.rowsPerSecond.toFixed(0),
    (figures.peakMemory / 1024 / 1024).toFixed(0),
    ms(figures.createAloneMs),
    ms(figures.createMeanwhileMs),
    times(figures.createMeanwhileMs / figures.createAloneMs),
  ]);
  return formatTable(
    ['export', 'rows', 'rows/s', 'peak MiB', 'create p99 ms alone', 'meanwhile', 'slower'],
    rows,
  );
}

function replicaTable(replica: readonly ReplicaFigures[]): string {
  const rows = replica.map((figures) => [
    `${figures.readsFrom}, ${formatSize(figures.leads)} leads`,
    figures.rate.toFixed(0),
    ms(figures.p50Ms),
    ms(figures.p99Ms),
    figures.primaryUs.toFixed(0),
    figures.replicaUs.toFixed(0),
    ms(figures.createMs),
    `${figures.ownSeen} of ${figures.own}`,
    ms(figures.othersSeenMs),
  ]);
  return formatTable(
    [
      'newest 100 from the',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'primary us/list',
      'replica us/list',
      'create p99 ms',
      'own seen at once',
      "others' seen after ms",
    ],
    rows,
  );
}

function rateTable(rates: readonly RateFigures[]): string {
  const rows = rates.map((figures) => [
    `${figures.kind}, ${formatSize(figures.leads)} leads`,
    figures.rate.toFixed(0),
    ms(figures.p50Ms),
    ms(figures.p99Ms),
    times(figures.serviceIs),
  ]);
  return formatTable(['newest 100 over HTTP', 'requests/s', 'p50 ms', 'p99 ms', 'the service is'], rows);
}
