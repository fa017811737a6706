import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { maxMemoryMb, processorTimeUs } from '../process-tree.ts';
import type { DeliveryBench } from './bench.ts';
import { createTenants, LeadWriter, startDeliverer, waitUntilSent } from './delivery-stack.ts';
import { receiverDomain, startReceivers } from '../stack/receivers.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';

/** The maximum of webhooks of a workspace. */
const perWorkspace = 20;
const eventsEach = 20;

/** Measures the memory of the process that sends to many endpoints over https, each with a receiver of its own. */
export async function measureMemory({ createDatabase, endpoints, onProgress }: DeliveryBench) {
  await using temporary = temporaryDirectory(undefined);
  const certificate = createCertificate(temporary.path);
  const databaseUrl = await createDatabase('memory');
  await using receivers = await startReceivers(
    Array.from({ length: endpoints }, () => ({ status: 204, delayMs: 50 })),
    certificate,
  );
  const urls = Array.from({ length: Math.ceil(endpoints / perWorkspace) }, (_, at) =>
    receivers.urls.slice(at * perWorkspace, (at + 1) * perWorkspace),
  );
  const tenants = await createTenants(databaseUrl, 'memory', urls);
  await using writer = new LeadWriter(databaseUrl, tenants);
  await using deliverer = await startDeliverer(databaseUrl, { NODE_EXTRA_CA_CERTS: certificate.path });
  const idleMb = maxMemoryMb(deliverer.pid);
  const start = performance.now();
  await writer.write(tenants.length * eventsEach);
  await waitUntilSent(databaseUrl, { timeoutMs: 600_000 });
  const seconds = (performance.now() - start) / 1000;
  const requests = (await receivers.take()).map((received) => received.requests);
  const delivered = requests.reduce((sum, { size }) => sum + size, 0);
  const figures = {
    endpoints,
    delivered,
    deliveriesPerSecond: delivered / seconds,
    deliveriesPerCoreSecond: delivered / (processorTimeUs(deliverer.pid) / 1e6),
    idleMb,
    maxMemoryMb: maxMemoryMb(deliverer.pid),
  };
  onProgress(`  ${figures.maxMemoryMb.toFixed(0)} MB with ${endpoints} endpoints`);
  return figures;
}

/** Creates a certificate of the receivers, which is also its own authority. */
function createCertificate(directory: string) {
  const flags =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=receiver ' +
    `-addext subjectAltName=DNS:*.${receiverDomain} -keyout key.pem -out cert.pem`;
  execFileSync('openssl', flags.split(' '), { cwd: directory, stdio: 'ignore' });
  const path = join(directory, 'cert.pem');
  return { path, cert: readFileSync(path, 'utf8'), key: readFileSync(join(directory, 'key.pem'), 'utf8') };
}
