import { expect, test } from 'vitest';
import type { Fixture } from '../fixture.ts';
import { personalTexts } from '../log-check/confidential.ts';
import { exampleEntity, fillPath, guardedRoutesOf } from '../openapi-document.ts';
import { parseMetrics, sumOf } from '../prometheus-text.ts';
import type { RunningService } from '../running-service.ts';

interface Running extends AsyncDisposable {
  readonly service: RunningService;
  readonly fixture: Fixture;
}

const token = 'a-token-of-the-tests';

/** Tests the Prometheus metrics of a service. */
export function describeMetrics(start: (settings?: Record<string, string>) => Promise<Running>): void {
  const scrape = async (service: RunningService, headers = {}) =>
    parseMetrics((await service.send({ path: '/metrics', headers })).text);
  const routeOf = (service: RunningService) => {
    const route = guardedRoutesOf(service.document).find(({ method }) => method === 'POST');
    if (route === undefined) throw new Error('The service has no guarded POST route');
    const entity = exampleEntity(route.operation);
    return { path: fillPath(route.path), pattern: route.path, body: JSON.parse(entity?.text ?? '') };
  };

  test('metrics follow the naming conventions; the document and the log omit them', async () => {
    await using running = await start();
    const { service } = running;
    const answer = await service.send({ path: '/metrics' });
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const { families, samples } = parseMetrics(answer.text);

    for (const [name, { type, help }] of families) {
      expect([name, help]).toEqual([name, expect.stringMatching(/\S/)]);
      expect([name, ['counter', 'gauge', 'histogram'].includes(type)]).toEqual([name, true]);
      expect([name, name.match(/_(ms|milliseconds|kb|percent)(_|$)/)]).toEqual([name, null]);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    }
    expect([...families.keys()]).toEqual(
      expect.arrayContaining([
        'http_requests_total',
        'http_request_duration_seconds',
        'http_malformed_requests_total',
        'db_client_connections',
        'db_client_connections_max',
        'db_client_connections_pending_requests',
        'cache_lookups_total',
        'leads_build_info',
        'nodejs_eventloop_lag_p99_seconds',
        'nodejs_heap_size_used_bytes',
        'nodejs_gc_duration_seconds',
        'process_cpu_seconds_total',
        'process_resident_memory_bytes',
        'process_start_time_seconds',
      ]),
    );
    const series = samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
    expect(new Set(series).size).toBe(series.length);
    expect(sumOf(samples, 'process_start_time_seconds')).toBeGreaterThan(Date.now() / 1000 - 3600);

    expect(Object.keys(service.document.paths)).not.toContain('/metrics');
    expect(service.logs.entries().filter(({ route }) => route === '/metrics')).toEqual([]);
  });

  test('requests are counted by method, route and status, and metrics contain no request content', async () => {
    await using running = await start();
    const { service, fixture } = running;
    const { owner } = await fixture.createWorkspace();
    const { path, pattern, body } = routeOf(service);
    const send = (headers: Record<string, string>, query = '') =>
      service.send({ method: 'POST', path: `${path}${query}`, headers, body });

    for (let i = 0; i < 3; i++) expect((await send({ ...owner.headers })).status).toBe(200);
    expect((await send({}, `?phone=${encodeURIComponent(personalTexts[0] ?? '')}`)).status).toBe(401);
    for (const unknown of ['/nowhere', `/${personalTexts[1]}`, '/a/b/c?d=e']) {
      expect((await service.send({ path: unknown })).status).toBe(404);
    }
    await service.sendRaw('GET /%ZZ HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n');
    await service.sendRaw('nonsense\r\n\r\n');

    const text = (await service.send({ path: '/metrics' })).text;
    for (const forbidden of [...personalTexts, owner.apiKey, '/nowhere', '/a/b/c'])
      expect(text).not.toContain(forbidden);
    const { samples } = parseMetrics(text);
    const route = pattern.replaceAll(/\{(\w+)\}/g, ':$1');
    const counted = samples.filter(({ name }) => name === 'http_requests_total');
    expect(counted.map(({ labels, value }) => [labels, value])).toEqual([
      [{ method: 'POST', route, status: '200' }, 3],
      [{ method: 'POST', route, status: '401' }, 1],
      [{ method: 'GET', route: 'unmatched', status: '404' }, 3],
      [{ method: 'GET', route: 'unmatched', status: '400' }, 1],
    ]);
    expect(sumOf(samples, 'http_malformed_requests_total', { status: '400' })).toBe(1);

    const ofRoute = { method: 'POST', route, status: '200' };
    expect(sumOf(samples, 'http_request_duration_seconds_count', ofRoute)).toBe(3);
    const seconds = sumOf(samples, 'http_request_duration_seconds_sum', ofRoute);
    expect(seconds).toBeGreaterThan(0.0001);
    expect(seconds).toBeLessThan(30);
    const buckets = samples
      .filter(
        ({ name, labels }) => name === 'http_request_duration_seconds_bucket' && labels['status'] === '200',
      )
      .filter(({ labels }) => labels['route'] === route);
    const bounds = '0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 +Inf';
    expect(buckets.map(({ labels }) => labels['le']).join(' ')).toBe(bounds);
    const counts = buckets.map(({ value }) => value);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBe(3);
  });

  test('metrics report the pool and the credential cache of each service separately', async () => {
    await using running = await start({ DATABASE_POOL_SIZE: '7' });
    await using idle = await start();
    const { service, fixture } = running;
    const { owner } = await fixture.createWorkspace();
    const { path, body } = routeOf(service);
    for (let i = 0; i < 4; i++) {
      await service.send({ method: 'POST', path, headers: { ...owner.headers }, body });
    }
    const lookups = (result: string) => ({ cache: 'api_key', result });

    const { samples } = await scrape(service);
    expect(sumOf(samples, 'cache_lookups_total', lookups('miss'))).toBe(1);
    expect(sumOf(samples, 'cache_lookups_total', lookups('hit'))).toBe(3);
    expect(sumOf(samples, 'db_client_connections_max')).toBe(7);
    const open = sumOf(samples, 'db_client_connections');
    expect(open).toBeGreaterThan(0);
    expect(open).toBeLessThanOrEqual(7);
    expect(sumOf(samples, 'db_client_connections_pending_requests')).toBe(0);

    const other = await scrape(idle.service);
    expect(sumOf(other.samples, 'cache_lookups_total')).toBe(0);
    expect(other.samples.filter(({ name }) => name === 'http_requests_total')).toEqual([]);
  });

  test('metrics are available to local clients without untrusted proxies, or with the token', async () => {
    await using open = await start({ TRUST_PROXY: 'loopback' });
    await using guarded = await start({ METRICS_TOKEN: token });
    await using direct = await start();
    const statusOf = async ({ service }: Running, headers: Record<string, string>) =>
      (await service.send({ path: '/metrics', headers })).status;

    expect(await statusOf(open, {})).toBe(200);
    for (const clientAddress of [
      '203.0.113.7',
      '10.0.0.1',
      '2001:db8::1',
      '::ffff:203.0.113.7',
      '127.0.0.1.example',
      '127.0.0.1, 203.0.113.7',
      '203.0.113.7, 127.0.0.1',
      'unknown, ::1',
      '127.0.0.1,',
      '',
    ]) {
      expect([clientAddress, await statusOf(open, { 'X-Forwarded-For': clientAddress })]).toEqual([
        clientAddress,
        401,
      ]);
    }
    expect(await statusOf(open, { 'X-Forwarded-For': '::1' })).toBe(200);
    expect(await statusOf(open, { 'X-Forwarded-For': '127.0.0.1, ::1' })).toBe(200);

    expect(await statusOf(direct, {})).toBe(200);
    for (const [name, value] of [
      ['X-Forwarded-For', '203.0.113.7'],
      ['X-Forwarded-For', '127.0.0.1'],
      ['X-Real-IP', '127.0.0.1'],
      ['Forwarded', 'for=127.0.0.1'],
      ['Via', '1.1 proxy'],
      ['X-Forwarded-Proto', 'https'],
    ] as const) {
      expect([name, await statusOf(direct, { [name]: value })]).toEqual([name, 401]);
    }

    for (const Authorization of [
      '',
      token,
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
    ]) {
      expect([Authorization, await statusOf(guarded, { Authorization })]).toEqual([Authorization, 401]);
    }
    expect(await statusOf(guarded, {})).toBe(401);
    expect(await statusOf(guarded, { Authorization: `Bearer ${token}` })).toBe(200);
  });
}
