import { expect, test } from 'vitest';
import type { DueEndpoint } from './delivery-queue.ts';
import { EndpointPace } from './endpoint-pace.ts';

const total = (room: ReadonlyMap<string, number>) => [...room.values()].reduce((sum, each) => sum + each, 0);

const endpoint = (id: string, workspaceId: string) => ({ id, workspaceId });

/** Begins what endpoints may begin. Returns the number for each. */
function begin(pace: EndpointPace, endpoints: readonly DueEndpoint[]): Map<string, number> {
  const room = pace.share(endpoints);
  for (const each of endpoints) for (let i = 0; i < (room.get(each.id) ?? 0); i++) pace.begin(each);
  return room;
}

/** Begins what an endpoint may begin, and ends it with a result. Returns the number. */
function round(pace: EndpointPace, each: DueEndpoint, isSuccess: boolean): number {
  const count = total(begin(pace, [each]));
  for (let i = 0; i < count; i++) pace.end(each.id, isSuccess);
  return count;
}

test('the concurrency of an endpoint grows with each success up to 50, and is one after a failure', () => {
  const pace = new EndpointPace(256);
  const a = endpoint('a', 'w');
  expect([1, 2, 3, 4, 5].map(() => round(pace, a, true))).toEqual([4, 8, 16, 32, 50]);
  expect(round(pace, a, true)).toBe(50);
  round(pace, a, false);
  expect([round(pace, a, false), round(pace, a, true), round(pace, a, true)]).toEqual([1, 1, 2]);
});

test('endpoints of a workspace share its room evenly, and an endpoint that hangs leaves room for others', () => {
  const pace = new EndpointPace(20);
  const [a, b, c, d] = [endpoint('a', 'w'), endpoint('b', 'w'), endpoint('c', 'w'), endpoint('d', 'w')];
  for (let i = 0; i < 4; i++) round(pace, a, true);
  const room = begin(pace, [a, b, c]);
  expect([...room.values()].toSorted((x, y) => x - y)).toEqual([3, 3, 4]);
  expect([pace.running, pace.share([a, b, d])]).toEqual([10, new Map()]);
  pace.end('a', false);
  expect([pace.running, pace.share([a, d])]).toEqual([9, new Map([['d', 1]])]);
});

test('one workspace gets half of the requests, and each further workspace half of the rest, whatever its endpoints', () => {
  const pace = new EndpointPace(256);
  const begun = (workspaceId: string, count: number) => {
    const endpoints = Array.from({ length: count }, (_, index) =>
      endpoint(`${workspaceId}${index}`, workspaceId),
    );
    for (const each of endpoints) for (let i = 0; i < 5; i++) round(pace, each, true);
    return total(begin(pace, endpoints));
  };
  expect([begun('a', 25), begun('b', 25), begun('c', 25), begun('d', 1)]).toEqual([128, 64, 32, 16]);
  pace.end('a0', true);
  expect([begun('a', 1), begun('e', 1)]).toEqual([0, 9]);
});

test('endpoints that hang, however many, leave room for others of their workspace and of other workspaces', () => {
  const pace = new EndpointPace(256);
  const failing = (workspaceId: string, count: number) => {
    const endpoints = Array.from({ length: count }, (_, index) =>
      endpoint(`${workspaceId}${index}`, workspaceId),
    );
    for (const each of endpoints) round(pace, each, false);
    return endpoints;
  };
  const many = failing('many', 500);
  const others = Array.from({ length: 300 }, (_, index) => failing(`other${index}`, 1)).flat();
  const begun = begin(pace, many);
  expect(total(begun)).toBe(86);
  expect(pace.share([endpoint('healthy', 'many')])).toEqual(new Map([['healthy', 4]]));
  begin(pace, others);
  expect(pace.running).toBe(128);
  expect(pace.share([endpoint('healthy', 'healthy')])).toEqual(new Map([['healthy', 4]]));
  // Healthy endpoints that use all of the room of their workspace leave a turn for one that may have recovered.
  const [busy, down] = [endpoint('busy', 'mixed'), endpoint('down', 'mixed')];
  const alone = new EndpointPace(8);
  round(alone, down, false);
  for (let i = 0; i < 3; i++) alone.begin(busy);
  expect(alone.share([down])).toEqual(new Map([['down', 1]]));
  for (const id of [...begun.keys()].slice(0, 2)) pace.end(id, true);
  expect(pace.share(others).size).toBe(2);
});

test('requests that begin after a failure leave no trace once all have ended, also if a failure came while they were claimed', () => {
  const pace = new EndpointPace(16);
  const [flaky, neighbor] = [endpoint('flaky', 'w'), endpoint('neighbor', 'v')];
  round(pace, neighbor, false);
  for (let count = 0; count < 10; count++) {
    for (let i = 0; i < 4; i++) round(pace, flaky, true);
    pace.begin(flaky);
    const claimed = pace.share([flaky]).get('flaky') ?? 0;
    expect(claimed).toBeGreaterThan(1);
    pace.end('flaky', false);
    for (let i = 0; i < claimed; i++) pace.begin(flaky);
    for (let i = 0; i < claimed; i++) pace.end('flaky', false);
    expect([pace.running, pace.share([flaky]), pace.share([neighbor])]).toEqual([
      0,
      new Map([['flaky', 1]]),
      new Map([['neighbor', 1]]),
    ]);
  }
});

test('failing endpoints of workspaces take turns, whatever the number of endpoints of each', () => {
  const pace = new EndpointPace(256);
  const many = Array.from({ length: 500 }, (_, index) => endpoint(`many${index}`, `w${index % 20}`));
  const only = endpoint('only', 'v');
  for (const each of [...many, only]) round(pace, each, false);
  const running = [...begin(pace, many).keys()];
  expect(running).toHaveLength(128);
  expect(pace.share([...many, only])).toEqual(new Map());
  for (const id of running) {
    pace.end(id, false);
    expect(pace.share([...many, only]).get('only')).toBe(1);
    begin(pace, many);
  }
});
