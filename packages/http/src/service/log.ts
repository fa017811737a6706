import { LeadsError, StoreError } from '@leads/core/errors';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/**
 * Structured logs: one JSON object a line on standard output, with times in ISO 8601. Requests and errors are
 * written by what they are, never by what they carry: no header, no body, no URL.
 *
 * @param options.service the service's name, in every line.
 * @param options.worker which of the service's processes this is, in every line, where there are several.
 * @param options.destination where lines go instead.
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
        // A line without a text of its own would get the error's, which can quote what a caller sent.
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

/** Lines of the same millisecond share their text: to make it takes as long as all the rest of a line. */
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

/** Many lines at a time, which costs a tenth of one at a time; none waits longer than an eye notices. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true, minLength: 8 * 1024, periodicFlush: 100 });
  process.once('exit', () => output.flushSync());
  return output;
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
 * An error for the log. A parser's message can quote what a caller sent, so only the texts of errors that this
 * project words itself are written; of others the kind, the code and the place are.
 */
function describeError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: '', stack: '' };
  const ours = error instanceof LeadsError || error instanceof StoreError || error instanceof TypeError;
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: ours ? error.message : '',
    stack: (error.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .join('\n'),
    ...(typeof code === 'string' && { code }),
    ...(error.cause instanceof Error && { cause: describeError(error.cause) }),
  };
}
