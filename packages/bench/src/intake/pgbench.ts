import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cardinality, referenceOwner } from '../load/requests.ts';
import { percentile } from '../statistics.ts';

/** The result of one run of pgbench. */
interface PgbenchFigures {
  readonly inserted: number;
  /** Excludes the time to connect. */
  readonly insertsPerSecond: number;
  readonly connectSeconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/**
 * Inserts the row that the intake stores (load/requests.ts). pgbench generates numbers, and Postgres formats
 * them.
 */
const script = `
\\set first random(0, ${cardinality.firstNames - 1})
\\set last random(0, ${cardinality.lastNames - 1})
\\set page random(10, ${9 + cardinality.landingPages})
\\set area random(200, 999)
\\set line random(1000, 9999)
\\set click random(1000000000, 9999999999)
INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, phone_e164, address, ip, s1,
  lp_name, version, words, created_at, updated_at)
VALUES (uuidv7(), '${referenceOwner.workspaceId}', '${referenceOwner.campaignId}', '${referenceOwner.userId}', 'intake', 'OnHold',
  'Ada' || :first::int || ' Lovelace' || :last::int, '+1 202 ' || :area::int || ' ' || :line::int,
  '+1202' || :area::int || :line::int, '1 Arlington Ridge, Virginia', '127.0.0.1',
  'click-8f14e45f-' || :click::bigint, 'offer-' || :page::int, 1,
  ARRAY['1202' || :area::int || :line::int, 'ada' || :first::int, 'lovelace' || :last::int], now(), now());
`;

export function isPgbenchInstalled(): boolean {
  return spawnSync('pgbench', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * Inserts leads one by one with a prepared statement, each in its own transaction.
 *
 * @param options.extent the duration, including the time to connect, or the number of leads for each
 * connection.
 * @param options.directory the parent of a temporary directory.
 */
export async function runPgbench(options: {
  databaseUrl: string;
  connections: number;
  extent: { readonly seconds: number } | { readonly leadsEach: number };
  directory: string;
}): Promise<PgbenchFigures> {
  const { connections, extent } = options;
  const directory = mkdtempSync(join(options.directory, 'pgbench-'));
  try {
    const scriptFile = join(directory, 'insert.sql');
    writeFileSync(scriptFile, script);
    const { hostname, port, username, password, pathname } = new URL(options.databaseUrl);
    // Two threads insert 9 to 24 % more than one, measured in three pairs of runs on a machine with other
    // load.
    const jobs = Math.min(2, connections);
    const fixedArgs = ['--no-vacuum', '--protocol=prepared', `--jobs=${jobs}`, `--client=${connections}`];
    const extentArgs =
      'seconds' in extent
        ? [`--time=${Math.max(1, Math.ceil(extent.seconds))}`]
        : [`--transactions=${extent.leadsEach}`];
    const logArgs = ['--log', `--log-prefix=${join(directory, 'log')}`];
    const { stdout } = await promisify(execFile)(
      'pgbench',
      [...fixedArgs, ...extentArgs, ...logArgs, `--file=${scriptFile}`, pathname.slice(1)],
      {
        env: {
          PATH: process.env['PATH'],
          PGHOST: hostname,
          PGPORT: port,
          PGUSER: username,
          PGPASSWORD: decodeURIComponent(password),
        },
      },
    );
    const figure = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? Number.NaN);
    const latenciesMs = readdirSync(directory)
      .filter((name) => name.startsWith('log.'))
      .flatMap((name) => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'))
      // The third field is the duration of the transaction in microseconds.
      .map((line) => Number(line.split(' ')[2]) / 1000);
    return {
      inserted: figure(/transactions actually processed: (\d+)/),
      insertsPerSecond: figure(/^tps = ([\d.]+)/m),
      connectSeconds: figure(/^initial connection time = ([\d.]+) ms/m) / 1000,
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
      p999Ms: percentile(latenciesMs, 0.999),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
