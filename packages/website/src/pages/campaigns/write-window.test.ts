import { expect, test } from 'vitest';
import { writeHoldTime, writeWindow } from './write-window.ts';

test.for([
  [1, '1 second'],
  [61, '61 seconds'],
  [60, '1 minute'],
  [7_200, '2 hours'],
  [86_400, '1 day'],
] as const)('a duration of %i s is written as %s', ([seconds, text]) => {
  expect([writeWindow(seconds), writeHoldTime(seconds)]).toEqual([`Within ${text}`, text]);
});
