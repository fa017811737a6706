import { Agent, request } from 'node:http';
import { percentile } from '../statistics.ts';
import { issueCredentials, startCrm } from './crm-process.ts';
import { createSteadily } from './steady-creates.ts';

export interface ExportFigures {
  readonly leads: number;
  readonly format: string;
  readonly rows: number;
  readonly rowsPerSecond: number;
  /** Resident memory of the process at its highest, in bytes, from its start. */
  readonly peakMemory: number;
  /** p99 of a create before and after the exports, and while they ran, in milliseconds. */
  readonly createAloneMs: number;
  readonly createMeanwhileMs: number;
}

const formats = ['text/csv', 'application/x-ndjson'];
const path = '/api/v1/order/leads';
const usual = { aloneMs: 10_000 };

/** Exports every lead of the large workspace, while leads are created at a steady pace. */
export async function measureExport(
  databaseUrl: string,
  leads: number,
  effort: number,
  onProgress: (line: string) => void,
): Promise<ExportFigures[]> {
  const headers = await issueCredentials(databaseUrl);
  const figures: ExportFigures[] = [];
  for (const format of formats) {
    onProgress(`Exporting as ${format}`);
    // A process of its own for each: peak memory only ever rises.
    await using crm = await startCrm(databaseUrl, ['service']);
    const agent = new Agent({ keepAlive: true });
    const aloneMs = Math.max(500, (usual.aloneMs * effort) / 2);
    const create = (until: AbortSignal) => createSteadily(crm.port, headers, agent, until);
    // The first ones wait for code to be compiled, and count for nothing.
    await create(AbortSignal.timeout(aloneMs));
    const before = await create(AbortSignal.timeout(aloneMs));

    const ended = new AbortController();
    const meanwhile = create(ended.signal);
    const start = performance.now();
    const rows = await countLines(crm.port, { ...headers, Accept: format });
    const seconds = (performance.now() - start) / 1000;
    ended.abort();
    const during = await meanwhile;
    const after = await create(AbortSignal.timeout(aloneMs));
    agent.destroy();

    figures.push({
      leads,
      format,
      rows: format === 'text/csv' ? rows - 1 : rows,
      rowsPerSecond: rows / seconds,
      peakMemory: await crm.peakMemory(),
      createAloneMs: percentile([...before, ...after], 0.99),
      createMeanwhileMs: percentile(during, 0.99),
    });
  }
  return figures;
}

async function countLines(port: number, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers }, (response) => {
      if (response.statusCode !== 200)
        reject(new Error(`The export is answered with ${response.statusCode}`));
      let lines = 0;
      response.on('data', (data: Buffer) => {
        for (let at = data.indexOf(10); at !== -1; at = data.indexOf(10, at + 1)) lines++;
      });
      // A connection that breaks is no end.
      response.on('end', () =>
        response.complete ? resolve(lines) : reject(new Error('The export broke off')),
      );
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}
