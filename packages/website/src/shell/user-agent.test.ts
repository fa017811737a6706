import { expect, test } from 'vitest';
import { describeClient } from './user-agent.ts';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  ['curl/8.5.0', 'curl on an unknown system'],
  ['my-integration/2.1', 'my-integration/2.1'],
  ['', 'A program on an unknown system'],
])('the client with the user agent "%s" is called "%s"', (userAgent, name) => {
  expect(describeClient(userAgent)).toBe(name);
});
