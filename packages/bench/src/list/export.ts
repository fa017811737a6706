import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertAll200 } from '../load/load-process.ts';
import { crmLeadsPath } from '../load/requests.ts';
import { maxMemoryMb } from '../process-tree.ts';
import { startProgram } from '../stack/programs.ts';
import { issueOwnerCredentials, type ListBench, steadyCreates } from './bench.ts';

const usualAloneMs = 10_000;

/** Exports every lead of the large workspace under a load of 50 creates per second. */
export async function measureExport({ databases, exportSize: leads, load, effort, onProgress }: ListBench) {
  const databaseUrl = await databases.open(leads);
  const headers = await issueOwnerCredentials(databaseUrl);
  const figures = [];
  for (const format of ['text/csv', 'application/x-ndjson']) {
    onProgress(`  ${format}`);
    // A new process for each format, since its maximum memory never decreases.
    await using crm = await startProgram('crm', { databaseUrl });
    const aloneMs = Math.max(500, (usualAloneMs * effort) / 2);
    /** Creates leads while `work` runs. @returns the p99 of a create. */
    const createDuring = async (work: () => Promise<unknown>) => {
      const creating = load.send({ ...steadyCreates, port: crm.port, headers });
      await work();
      load.end();
      return assertAll200(await creating).p99Ms;
    };
    // The first creates compile code and are not measured.
    await createDuring(() => sleep(aloneMs));
    const beforeMs = await createDuring(() => sleep(aloneMs));
    let lines = 0;
    let seconds = 0;
    const createDuringMs = await createDuring(async () => {
      const start = performance.now();
      lines = await countLines(crm.port, { ...headers, Accept: format });
      seconds = (performance.now() - start) / 1000;
    });
    const afterMs = await createDuring(() => sleep(aloneMs));
    figures.push({
      leads,
      format,
      rows: format === 'text/csv' ? lines - 1 : lines,
      rowsPerSecond: lines / seconds,
      maxMemoryMb: maxMemoryMb(crm.pid),
      /** p99 of a create without an export, before and after. */
      createAloneMs: (beforeMs + afterMs) / 2,
      createDuringMs,
      slowdown: createDuringMs / ((beforeMs + afterMs) / 2),
    });
  }
  return figures;
}

/**
 * Exports leads, and counts the lines of the body. @throws Error for a status other than 200 or an incomplete
 * body.
 */
async function countLines(port: number, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: crmLeadsPath, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`The export answers ${response.statusCode}`));
      let lines = 0;
      response.on('data', (data: Buffer) => {
        for (let at = data.indexOf(10); at !== -1; at = data.indexOf(10, at + 1)) lines++;
      });
      response.on('end', () =>
        response.complete ? resolve(lines) : reject(new Error('The export is incomplete')),
      );
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}
