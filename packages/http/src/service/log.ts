import { BrokerError, LeadsError, SetupError, StoreError } from '@leads/core/errors';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/**
 * Creates a structured logger: one JSON object a line on standard output, with times in ISO 8601. Lines never hold
 * request content: no header, no body, no URL.
 *
 * @param options.service the service's name, added to every line.
 * @param options.worker the number of this worker process, added to every line if there are several.
 * @param options.destination replaces standard output.
 */
export function createLogger(options: {
  service: string;
  level: string;
  worker?: number | undefined;
  destination?: DestinationStream;
}): Logger {
  return pino(
    {
      level: options.level,
      base: { service: options.service, ...(options.worker !== undefined && { worker: options.worker }) },
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError, req: () => undefined, res: () => undefined },
      hooks: {
        // Without a text of its own, a line would get the error's message, which can quote request content.
        logMethod(args, method) {
          const [first, text] = args as [unknown, unknown];
          const isBareError = text === undefined && typeof first === 'object';
          method.apply(this, isBareError ? [first, ''] : args);
        },
      },
    },
    options.destination ?? standardOutput(),
  );
}

/**
 * Returns a function that logs an error as a warning.
 *
 * @param text names the event and its effect.
 */
export function warnOnError(log: Logger, text: string): (error: unknown) => void {
  return (err) => log.warn({ err }, text);
}

/** Formats each millisecond once. Formatting the time takes as long as the rest of a line. */
function createTimestamp(): () => string {
  let madeAt = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== madeAt) {
      madeAt = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** The maximum size of the lines that wait while they cannot be written, in bytes. Further lines are dropped. */
const maxWaitingBytes = 1024 * 1024;

/**
 * Writes lines in blocks, at a tenth of the cost of single writes, and at the latest after 100 ms. A write that fails,
 * such as on a full disk, is retried with the next one, and never fails the caller or the process.
 */
function standardOutput(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({
    dest: 1,
    sync: true,
    minLength: 8 * 1024,
    maxLength: maxWaitingBytes,
    periodicFlush: 100,
  });
  output.on('error', () => undefined);
  const flushSync = () => {
    // `output.flushSync` would retry a failed write for ever. The second flush writes what the first leaves: up to 8 KiB.
    output.flush();
    output.flush();
  };
  process.once('exit', flushSync);
  return { write: (line) => void output.write(line), flushSync };
}

interface LoggedError {
  [member: string]: unknown;
  type: string;
  message: string;
  stack: string;
  code?: string;
  cause?: LoggedError;
}

/**
 * Describes an error for the log. A parser's message can quote request content, so only messages of the project's own
 * errors and of the NATS client are written: NATS quotes subjects and streams, and no message. For other errors, the line
 * has the type, the code and the stack.
 */
function describeError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: '', stack: '' };
  const isSafe =
    error.name === 'NatsError' ||
    [BrokerError, LeadsError, SetupError, StoreError, TypeError].some((type) => error instanceof type);
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: isSafe ? error.message : '',
    stack: (error.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .join('\n'),
    ...(typeof code === 'string' && { code }),
    ...(error.cause instanceof Error && { cause: describeError(error.cause) }),
  };
}
