import { expect, test } from 'vitest';
import { turnsOf } from './event-publisher.ts';

const turns = (ids: readonly string[]) =>
  turnsOf(ids.map((id) => ({ id, subject: id.charAt(0) }))).map((turn) => turn.map(({ id }) => id).join(' '));

test('events of a lead follow one another, those of others do not wait', () => {
  expect(turns(['a1', 'b1', 'c1', 'a2', 'd1', 'b2', 'a3', 'a4'])).toEqual([
    'a1 b1 c1',
    'a2 d1 b2',
    'a3',
    'a4',
  ]);
  expect(turns(['a1', 'b1'])).toEqual(['a1 b1']);
  expect(turns([])).toEqual([]);
});
