import { LeadsError } from '@leads/core/errors';
import { expect, test } from 'vitest';
import { createLogger } from './log.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  write(createLogger({ service: 'test', level: 'info', destination }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a line is a JSON object with the level by name, the time in ISO 8601 and the service', () => {
  const [line] = logged((log) => log.warn({ count: 1 }, 'Something'));
  expect(line).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: 'test',
    count: 1,
    msg: 'Something',
  });
});

test('requests and answers are never written, whatever they hold', () => {
  const [line] = logged((log) => log.info({ req: { url: 'secret' }, res: { headers: 'secret' } }, 'x'));
  expect(JSON.stringify(line)).not.toContain('secret');
});

test("the text of an error that is not this project's is left out, also of its causes", () => {
  const syntax = new SyntaxError('Unexpected token in "Ada Lovelace"');
  const [line] = logged((log) => log.error({ err: new LeadsError('invalid_input', { cause: syntax }) }));
  expect(JSON.stringify(line)).not.toContain('Lovelace');
  expect(line?.['err']).toMatchObject({
    type: 'LeadsError',
    code: 'invalid_input',
    message: 'Invalid input data',
    cause: { type: 'SyntaxError', message: '' },
  });
});

test('where an error happened is written, though its text of several lines is not', () => {
  const error = new Error('Ada Lovelace\n    her phone is 020 7946 0958');
  const [line] = logged((log) => log.error({ err: error }));
  expect(line).toMatchObject({ err: { stack: expect.stringMatching(/^\s+at .*log\.test\.ts/) } });
  expect(JSON.stringify(line)).not.toMatch(/Lovelace|her phone/);
});

test('an error logged by itself is no exception', () => {
  const lines = logged((log) => {
    log.error(new Error('Ada Lovelace'));
    log.error({ err: new Error('Ada Lovelace') });
    log.child({ reqId: '1' }).warn(new Error('Ada Lovelace'));
  });
  expect(lines).toHaveLength(3);
  expect(JSON.stringify(lines)).not.toContain('Lovelace');
});

test('a text that was thrown is not written', () => {
  const [line] = logged((log) => log.error({ err: 'Ada Lovelace' }));
  expect(line?.['err']).toMatchObject({ type: 'string', message: '' });
});
