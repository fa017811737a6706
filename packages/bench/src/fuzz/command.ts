import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DisposeStack } from '@leads/core/dispose-stack';
import { createAccessTokenCodec } from '@leads/crm/access-token-codec';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import { jwtSecret, openFixture } from '@leads/test-kit/fixture';
import { type Answer, HttpClient } from '@leads/test-kit/http-client';
import {
  createResponseCheck,
  type OpenApiDocument,
  withoutReferences,
} from '@leads/test-kit/openapi-document';
import { defineCommand, integer } from '../command.ts';
import { createMigratedDatabase } from '../stack/database.ts';
import { startProgram } from '../stack/programs.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import type { GeneratedRequest } from './generate.ts';

const concurrency = 16;
const maxExamples = 10;
/** The pauses before a request that was answered with 503 is sent again, in milliseconds. */
const retryPausesMs = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

/** What can be wrong with the response to a request. */
type Fault = 'serverErrors' | 'unanswered' | 'secondAnswers' | 'outsideContract';

export interface FuzzFigures extends Record<Fault, number> {
  readonly seed: number;
  readonly services: readonly {
    readonly service: string;
    readonly requests: number;
    readonly statuses: string;
  }[];
  /** The first faults: the request line and what was wrong. */
  readonly examples: readonly { readonly request: string; readonly fault: Fault; readonly detail: string }[];
}

export const fuzz = defineCommand({
  summary:
    'sends generated requests to all documented operations of both services, and checks every response',
  options: {
    requests: integer(10_000_000, '30000', 'requests; 30,000 take about 4 min'),
    seed: integer(1_000_000_000, '1', 'seed of the generator; the same seed sends the same requests'),
  },
  async run({ requests, seed }, { dataDir, onProgress, stop }) {
    // The generator takes a second to load, which no other command needs.
    const { generateRequests } = await import('./generate.ts');
    await using resources = new DisposeStack();
    const { path: directory } = resources.use(temporaryDirectory(dataDir));
    const postgres = resources.use(await startPostgres({ dataDir: join(directory, 'postgres') }));
    const databaseUrl = await createMigratedDatabase(postgres, 'fuzz');
    const { members, ids } = await createData(databaseUrl);

    const counts: Record<Fault, number> = {
      serverErrors: 0,
      unanswered: 0,
      secondAnswers: 0,
      outsideContract: 0,
    };
    const examples: FuzzFigures['examples'][number][] = [];
    const services: FuzzFigures['services'][number][] = [];
    for (const [name, share] of [
      ['crm', 0.75],
      ['intake', 0.25],
    ] as const) {
      const service = resources.use(await startProgram(name, { databaseUrl, env: settings }));
      const client = new HttpClient(service.port);
      const published = await client.send({ path: '/openapi.json' });
      const document = withoutReferences(published.json<OpenApiDocument>());
      const check = createResponseCheck(document);
      const generated = generateRequests({ document, members, ids }, Math.round(requests * share), seed);
      const statuses = new Map<number, number>();
      const report = (request: GeneratedRequest, fault: Fault, detail: string) => {
        counts[fault] += 1;
        if (examples.length < maxExamples) {
          examples.push({ request: `${request.method} ${request.path.slice(0, 100)}`, fault, detail });
        }
      };
      onProgress(`  ${name}: ${generated.length} requests`);
      // A busy machine makes a service unavailable for seconds. A request that causes 503 itself gets it each time.
      const sendUntilAvailable = async ({ bytes }: GeneratedRequest): Promise<Answer[]> => {
        for (let attempt = 0; ; attempt++) {
          const answers = await client.sendRaw(bytes);
          for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
          const isUnavailable = answers.length === 1 && answers[0]?.status === 503;
          const pauseMs = retryPausesMs[attempt];
          if (!isUnavailable || pauseMs === undefined) return answers;
          await sleep(pauseMs);
        }
      };
      let sent = 0;
      const sendNext = async (): Promise<void> => {
        for (;;) {
          const request = generated[sent++];
          if (request === undefined || stop.aborted) return;
          if (sent % 5_000 === 0) onProgress(`  ${name}: ${sent} of ${generated.length}`);
          let answers: Answer[];
          try {
            answers = await sendUntilAvailable(request);
          } catch (error) {
            report(request, 'unanswered', (error as Error).message);
            continue;
          }
          const [answer, ...others] = answers;
          if (answer === undefined) {
            report(request, 'unanswered', 'the connection was closed without a response');
            continue;
          }
          if (others.length > 0) report(request, 'secondAnswers', `${others.length} more responses`);
          if (answer.status >= 500)
            report(request, 'serverErrors', `${answer.status} ${answer.text.slice(0, 200)}`);
          try {
            check(request, answer);
          } catch (error) {
            report(request, 'outsideContract', (error as Error).message.slice(0, 300));
          }
        }
      };
      await Promise.all(Array.from({ length: concurrency }, sendNext));
      client.close();
      const byStatus = [...statuses]
        .toSorted(([a], [b]) => a - b)
        .map(([status, count]) => `${status}: ${count}`);
      services.push({ service: name, requests: generated.length, statuses: byStatus.join(', ') });
    }
    const figures: FuzzFigures = { seed, services, ...counts, examples };
    return { figures, passed: Object.values(counts).every((count) => count === 0) };
  },
});

/** A rejected request would not reach its handler, so the intake has no rate limits, as the CRM of every benchmark. */
const settings = {
  JWT_SECRET: jwtSecret,
  INTAKE_BROWSER_KEY_REQUESTS_PER_MINUTE: '0',
  INTAKE_SECRET_KEY_REQUESTS_PER_MINUTE: '0',
  INTAKE_WORKSPACE_REQUESTS_PER_MINUTE: '0',
};

/** Creates two workspaces with a member of every role, a lead and a landing page. */
async function createData(databaseUrl: string) {
  await using fixture = openFixture(databaseUrl, await createAccessTokenCodec(jwtSecret));
  const members: Readonly<Record<string, string>>[] = [];
  const ids: string[] = [];
  for (let count = 0; count < 2; count++) {
    const workspace = await fixture.createWorkspace();
    const { owner, id, demoCampaignId } = workspace;
    const others = [await workspace.addMember('manager'), await workspace.addMember('publisher')];
    members.push(...[owner, ...others].map(({ headers }) => headers));
    const lead = workspace.lead(owner);
    await fixture.leads.insert([lead]);
    await workspace.mapLandingPage('spring', demoCampaignId);
    const page = await fixture.landingPages.find(id, { name: 'spring' });
    ids.push(lead.id, demoCampaignId, String(page?.id));
  }
  return { members, ids };
}
