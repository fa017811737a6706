import { DisposeStack } from '@leads/core/dispose-stack';
import { startReplica } from '@leads/local-stack/processes/postgres-replica';
import { type Service, startService } from '@leads/local-stack/processes/services';
import { assertAll200, startLoadProcess } from '../load/load-process.ts';
import { withProcessorTime } from '../process-tree.ts';
import { crmEnvironment } from '../stack/programs.ts';
import { waitUntil } from '../stack/wait-until.ts';
import { measureInTurn, medianFigures, scaled } from '../statistics.ts';
import { issueOwnerCredentials, type ListBench, measurementMs, newestLists, steadyCreates } from './bench.ts';
import { startFilledDatabases } from './filled-databases.ts';

const usualRounds = 10;
const timeoutMs = 60_000;

/**
 * Lists the newest 100 leads from the primary and from a streaming replica in turn, while another process
 * creates leads. It starts its own Postgres, since a replica copies every database of the server.
 */
export async function measureReplica(bench: ListBench) {
  const { load, effort, rateSizes, onProgress } = bench;
  await using resources = new DisposeStack();
  const databases = await startFilledDatabases(undefined, resources, onProgress);
  const leads = Math.min(...rateSizes);
  const { dataDir, postgres } = databases;
  const primaryUrl = await databases.open(leads);
  const replica = resources.use(await startReplica({ primaryUrl, dataDir, synchronous: false }));
  const startCrm = async (settings: Record<string, string>) => {
    const env = { ...crmEnvironment, DATABASE_URL: primaryUrl, ...settings };
    return resources.use(await startService('crm', { env }));
  };
  const writer = await startCrm({});
  const onPrimary = await startCrm({});
  const replicaUrl = replica.url(new URL(primaryUrl).pathname.slice(1));
  const onReplica = await startCrm({ DATABASE_REPLICA_URL: replicaUrl });
  if (!(await waitUntil(() => onReplica.output().includes('The replica has caught up'), timeoutMs))) {
    throw new Error('The replica did not catch up');
  }
  const headers = await issueOwnerCredentials(primaryUrl);
  using createLoad = startLoadProcess();
  const measured = await measureInTurn(
    [onPrimary, onReplica],
    scaled(usualRounds, effort),
    async (reader) => {
      const creating = createLoad.send({ ...steadyCreates, port: portOf(writer), headers });
      const target = { ...newestLists, port: portOf(reader), headers };
      const { result, processorUs } = await withProcessorTime({ primary: postgres, replica }, () =>
        load.send({ ...target, durationMs: measurementMs(bench) }),
      );
      const lists = assertAll200(result);
      createLoad.end();
      const count = lists.statuses['200'] ?? 0;
      return {
        requestsPerSecond: lists.requestsPerSecond,
        p50Ms: lists.p50Ms,
        p99Ms: lists.p99Ms,
        /** Processor time of each Postgres for one list, including the creates. */
        primaryUsPerList: processorUs.primary / count,
        replicaUsPerList: processorUs.replica / count,
        createP99Ms: assertAll200(await creating).p99Ms,
      };
    },
  );
  const [primary = [], replicas = []] = measured;
  return [
    { readsFrom: 'primary', leads, ...medianFigures(primary) },
    { readsFrom: 'replica', leads, ...medianFigures(replicas) },
  ];
}

const portOf = ({ url }: Service) => Number(new URL(url).port);
