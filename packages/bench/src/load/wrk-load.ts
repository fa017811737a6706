import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import { answerTimeoutMs } from './http-connection.ts';
import type { LoadFigures, LoadOptions, LoadProcess } from './load-process.ts';
import { createRequests } from './requests.ts';

/** The requests of a load. wrk repeats them if it sends more. */
const requestsPerSecond = 25_000;

/** The time in which a target finishes the requests that wrk did not wait for. */
const lastRequestsMs = 200;

/** Sends the requests of a file, which NUL characters separate. A thread of wrk reads the file before it connects. */
const script = (file: string) => `
local requests, calls = {}, 0
function init()
  for each in io.open('${file}', 'rb'):read('*a'):gmatch('[^%z]+') do requests[#requests + 1] = each end
end
-- wrk makes a first call before the load, and sends no request for it.
function request()
  calls = calls + 1
  return requests[math.max(0, calls - 2) % #requests + 1]
end
function done(summary, latency)
  local errors = summary.errors
  print(string.format('figures {"answers":%d,"us":%d,"not200":%d,"broken":%d,"p50":%d,"p99":%d,"p999":%d}',
    summary.requests, summary.duration, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
`;

/** What the script prints. Times are in microseconds. */
interface WrkFigures {
  readonly answers: number;
  readonly us: number;
  /** Answers with a status of 400 or more. */
  readonly not200: number;
  readonly broken: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/**
 * Returns loads that wrk sends, which takes less processor time for a request than a load process. Their duration is
 * rounded up to seconds. At the end, wrk does not wait for the answers of the last requests.
 *
 * @throws Error with one line if wrk is not installed.
 */
export function startWrkLoad(): Pick<LoadProcess, 'send'> {
  if (spawnSync('wrk', ['--version'], { stdio: 'ignore' }).error !== undefined) {
    throw new Error(
      'wrk is not installed. Install it (Debian, Ubuntu: sudo apt-get install wrk), or omit --wrk',
    );
  }
  let sentBefore = 0;
  return {
    async send(load) {
      const { port, connections, durationMs } = load;
      const seconds = Math.max(1, Math.ceil(durationMs / 1000));
      await using directory = temporaryDirectory(undefined);
      const [requests, scriptFile] = [join(directory.path, 'requests'), join(directory.path, 'script.lua')];
      const next = createRequests(load, sentBefore);
      const count = load.method === 'GET' ? 1 : seconds * requestsPerSecond;
      sentBefore += count;
      writeFileSync(requests, Array.from({ length: count }, () => next().bytes).join('\0'));
      writeFileSync(scriptFile, script(requests));
      const args = ['--threads', '1', '--connections', String(connections), '--duration', `${seconds}s`];
      // wrk counts an answer after 2 s as an error by default.
      args.push('--timeout', `${answerTimeoutMs / 1000}s`);
      const url = `http://127.0.0.1:${port}`;
      const { stdout } = await promisify(execFile)('wrk', [...args, '--script', scriptFile, url]);
      await sleep(lastRequestsMs);
      return toLoadFigures(JSON.parse(/^figures (.*)$/m.exec(stdout)?.[1] ?? '') as WrkFigures, load);
    },
  };
}

function toLoadFigures(
  { answers, us, not200, broken, p50, p99, p999 }: WrkFigures,
  { connections }: LoadOptions,
): LoadFigures {
  const accepted = answers - not200;
  return {
    requestsPerSecond: accepted / (us / 1e6),
    p50Ms: p50 / 1000,
    p99Ms: p99 / 1000,
    p999Ms: p999 / 1000,
    statuses: {
      '200': accepted,
      ...(not200 > 0 && { 'not 200': not200 }),
      ...(broken > 0 && { broken }),
    },
    rejectionStatuses: {},
    unsent: 0,
    maxUnanswered: connections,
  };
}
