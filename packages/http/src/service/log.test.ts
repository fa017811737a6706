import { once } from 'node:events';
import fs from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { BrokerError, LeadsError } from '@leads/core/errors';
import { Broker } from '@leads/core/nats';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from './log.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  write(createLogger({ service: 'test', level: 'info', destination }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a log line is a JSON object with the name of the level, the time in ISO 8601 and the service', () => {
  const [line] = logged((log) => log.warn({ count: 1 }, 'Something'));
  expect(line).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: 'test',
    count: 1,
    msg: 'Something',
  });
});

test('the content of requests and responses is never logged', () => {
  const [line] = logged((log) => log.info({ req: { url: 'secret' }, res: { headers: 'secret' } }, 'x'));
  expect(JSON.stringify(line)).not.toContain('secret');
});

test('the message of an error from another library is not logged, even as a cause', () => {
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

test('the message of an error that NATS reports is logged as a cause, because it names what the operator has to change', () => {
  const cause = new BrokerError('maximum bytes exceeded');
  const [line] = logged((log) => log.warn({ err: new LeadsError('unavailable', { cause }) }));
  expect(line).toMatchObject({ err: { cause: { type: 'BrokerError', message: 'maximum bytes exceeded' } } });
});

test('the message of an error of the NATS client is logged', async () => {
  // A server that rejects every user.
  const server = createServer((socket) => {
    socket.write('INFO {"server_id":"x","version":"2.10.0","max_payload":1048576,"auth_required":true}\r\n');
    socket.on('data', () => socket.end("-ERR 'Authorization Violation'\r\n"));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let err: unknown;
  const onChange = (_isConnected: boolean, reason: unknown) => (err = reason);
  await using _broker = new Broker({ url: `nats://127.0.0.1:${port}`, name: 'test', onChange });
  await vi.waitFor(() => expect(err).toBeDefined());
  server.close();
  const [line] = logged((log) => log.warn({ err }, 'NATS is unavailable'));
  expect(line).toMatchObject({ err: { type: 'NatsError', message: "'Authorization Violation'" } });
});

test('the stack of an error is logged without its message of several lines', () => {
  const error = new Error('Ada Lovelace\n    her phone is 020 7946 0958');
  const [line] = logged((log) => log.error({ err: error }));
  expect(line).toMatchObject({ err: { stack: expect.stringMatching(/^\s+at .*log\.test\.ts/) } });
  expect(JSON.stringify(line)).not.toMatch(/Lovelace|her phone/);
});

test('the message of an error that is logged without a field name is not logged either', () => {
  const lines = logged((log) => {
    log.error(new Error('Ada Lovelace'));
    log.error({ err: new Error('Ada Lovelace') });
    log.child({ reqId: '1' }).warn(new Error('Ada Lovelace'));
  });
  expect(lines).toHaveLength(3);
  expect(JSON.stringify(lines)).not.toContain('Lovelace');
});

test('a thrown string is not logged', () => {
  const [line] = logged((log) => log.error({ err: 'Ada Lovelace' }));
  expect(line?.['err']).toMatchObject({ type: 'string', message: '' });
});

test('a full disk under standard output drops log lines, and lines are written again once it has room', () => {
  let isFull = true;
  let written = '';
  const write = vi.spyOn(fs, 'writeSync').mockImplementation((_, data) => {
    if (isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    written += data;
    return Buffer.byteLength(data);
  });
  onTestFinished(() => write.mockRestore());
  const log = createLogger({ service: 'test', level: 'info' });
  const large = 'x'.repeat(10_000);
  for (let n = 0; n < 1_000; n++) log.info({ n, large }, 'While full');
  log.fatal('While full, too');
  isFull = false;
  log.fatal('The first with room');
  log.fatal('The second with room');
  const messages = written
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages.at(-1)).toBe('The second with room');
  // The first lines are written late, and the others are dropped.
  expect(messages.length).toBeGreaterThan(2);
  expect(messages.length).toBeLessThan(200);
});
