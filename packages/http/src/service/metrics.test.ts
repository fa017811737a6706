import { expect, test } from 'vitest';
import { addUpReports, formatReports, type MetricReport, Metrics } from './metrics.ts';

const build = { service: 'test', version: '1.2.3' };

const linesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name));

test('registered metrics are read at each scrape', async () => {
  const metrics = new Metrics(build);
  let depth = 0;
  const sheds = new Map([['queue_full', 2]]);
  metrics.gauge({ name: 'queue_depth', help: 'Items in the queue.' }, () => depth);
  metrics.counter({ name: 'sheds_total', help: 'Items that were shed.' }, () =>
    [...sheds].map(([reason, count]) => [{ reason }, count]),
  );
  const sizes = metrics.histogram({ name: 'batch_rows', help: 'Rows of a batch.' }, [1, 10, 100]);
  depth = 7;
  for (const size of [1, 2, 10, 11, 1000]) sizes.observe(size);

  const text = await metrics.text();
  expect(linesOf(text, 'queue_depth')).toEqual(['queue_depth 7']);
  expect(linesOf(text, 'sheds_total')).toEqual(['sheds_total{reason="queue_full"} 2']);
  expect(linesOf(text, 'batch_rows')).toEqual([
    'batch_rows_bucket{le="1"} 1',
    'batch_rows_bucket{le="10"} 3',
    'batch_rows_bucket{le="100"} 4',
    'batch_rows_bucket{le="+Inf"} 5',
    'batch_rows_sum 1024',
    'batch_rows_count 5',
  ]);
  expect(linesOf(text, '# TYPE batch_rows')).toEqual(['# TYPE batch_rows histogram']);
  expect(() => metrics.gauge({ name: 'queue_depth', help: 'Another.' }, () => 1)).toThrow(TypeError);
});

test('formatReports sums counters and gauges and takes the maximum of averages and the minimum start time', async () => {
  const of = (
    name: string,
    aggregator: MetricReport['aggregator'],
    value: number,
    type: MetricReport['type'] = 'gauge',
  ): MetricReport => ({ name, help: name, type, aggregator, values: [{ labels: {}, value }] });
  const report = (count: number, delay: number, start: number) => [
    of('taken_total', 'sum', count, 'counter'),
    of('delay_seconds', 'average', delay),
    of('start_seconds', 'omit', start),
    of('info', 'first', 1),
  ];
  const text = await formatReports([report(3, 0.01, 200), report(4, Number.NaN, 100), report(5, 0.5, 300)]);
  for (const line of ['taken_total 12', 'delay_seconds 0.5', 'start_seconds 100', 'info 1']) {
    expect(text.split('\n')).toContain(line);
  }

  const requests = (count: number) => {
    const metrics = new Metrics(build);
    for (let i = 0; i < count; i++) metrics.countRequest('GET', '/leads/:id', 200, 0.002);
    return metrics.report();
  };
  const sum = await addUpReports([await requests(2), await requests(3)]);
  // An aggregated report can be aggregated again.
  const again = await formatReports([sum, await requests(1)]);
  const labels = 'method="GET",route="/leads/:id",status="200"';
  expect(again).toContain(`http_requests_total{${labels}} 6\n`);
  expect(again).toContain(`http_request_duration_seconds_bucket{${labels},le="0.001"} 0\n`);
  expect(again).toContain(`http_request_duration_seconds_bucket{${labels},le="0.0025"} 6\n`);
  expect(again).toContain(`http_request_duration_seconds_count{${labels}} 6\n`);
});
