import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '@leads/core/credential';
import { submitPath } from '../load/requests.ts';
import type { Credentials } from '../stack/credentials.ts';
import { attackerAddress, createAgent, exchange, openRequest, type Sent } from './http-request.ts';

/** What an attack uses: the ports of the services, and credentials of one workspace. */
export interface Attacker {
  readonly crm: number;
  readonly intake: number;
  readonly credentials: Credentials;
  /** Further API keys and access tokens of the workspace. */
  readonly moreCredentials: readonly Credentials[];
}

/** Counts answers by status. */
type Count = (status: string) => void;

/** Sends requests until the signal aborts. */
type Run = (attacker: Attacker, stop: AbortSignal, count: Count) => Promise<void>;

interface Attack {
  readonly run: Run;
  /** The number of answers after which the attack has its full strength. */
  readonly strongAfter: number;
}

const leads = '/api/v1/order/leads';
/** The connections of a flood. */
const connections = 24;
/** The API keys in addition to the first, and the event streams of each. */
export const furtherKeys = 20;
const streamsPerKey = 10;
/** The exports or imports at the same time. */
const transfers = 8;
/** A phone number that almost fills a body. Letters cost more than digits where a statement removes them. */
const longPhone = 'x'.repeat(60_000);
/** The pause before a request is opened again, in milliseconds. */
const retryMs = 1_000;
/** The unknown API keys per second at each service. */
const keysPerSecond = 350;

/** Sends requests on many connections without a pause. */
const flood =
  (requestOf: (attacker: Attacker) => Sent): Run =>
  async (attacker, stop, count) => {
    const agent = createAgent(connections, attackerAddress);
    const sender = async () => {
      while (!stop.aborted) count(await exchange(agent, requestOf(attacker)));
    };
    await Promise.all(Array.from({ length: connections }, sender));
    agent.destroy();
  };

/** Holds requests open without reading their answers. It opens the rejected ones again. */
const hold =
  (requestsOf: (attacker: Attacker) => readonly Sent[]): Run =>
  async (attacker, stop, count) => {
    const requests = requestsOf(attacker);
    const agent = createAgent(requests.length, attackerAddress);
    const holder = async (sent: Sent) => {
      while (!stop.aborted) {
        const { outgoing, response } = openRequest(agent, sent);
        if (sent.method !== 'POST') outgoing.end();
        // The service answers an import when its file ends, or when it rejects it.
        const answer = await Promise.race([response.catch(() => undefined), aborted(stop)]);
        if (answer !== undefined) count(String(answer.statusCode));
        if (answer?.statusCode === 200) await aborted(stop);
        outgoing.destroy();
        await sleep(retryMs);
      }
    };
    await Promise.all(requests.map(holder));
    agent.destroy();
  };

const aborted = (signal: AbortSignal) =>
  new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** Returns the request that sends a lead to the intake. */
const submit = (port: number, headers: Sent['headers'], phone: string): Sent => ({
  port,
  path: submitPath,
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json' },
  body: JSON.stringify({ name: 'Ada', phone }),
});

const get = (path: string): Attack => ({
  run: flood(({ crm, credentials }) => ({ port: crm, path, headers: { ...credentials } })),
  strongAfter: connections,
});

/** Sends API keys that are well-formed and unknown, at a fixed rate. */
const sendUnknownKeys: Run = async ({ crm, intake, credentials }, stop, count) => {
  const agent = createAgent(64, attackerAddress);
  const sentOf = () => ({ ...credentials, API_KEY: generateApiKey().apiKey });
  const sender = async (requestOf: () => Sent) => {
    const pending = new Set<Promise<void>>();
    const startMs = performance.now();
    let keys = 0;
    while (!stop.aborted) {
      await sleep(1_000 / keysPerSecond);
      // On a busy machine, a pause takes longer.
      for (; keys < ((performance.now() - startMs) / 1_000) * keysPerSecond; keys++) {
        const sent = exchange(agent, requestOf()).then(count);
        pending.add(sent);
        void sent.finally(() => pending.delete(sent));
      }
    }
    await Promise.all(pending);
  };
  await Promise.all([
    sender(() => ({ port: crm, path: leads, headers: sentOf() })),
    sender(() => submit(intake, sentOf(), '1')),
  ]);
  agent.destroy();
};

/** The attacks of one workspace on the others, by name. */
export const attacks = {
  searches: get(`${leads}?q=112&count=exact`),
  pages: get(leads),
  streams: {
    run: hold(({ crm, moreCredentials }) =>
      moreCredentials.flatMap((headers) =>
        Array.from({ length: streamsPerKey }, () => ({ port: crm, path: '/api/v1/events', headers })),
      ),
    ),
    strongAfter: furtherKeys * streamsPerKey,
  },
  exports: {
    run: hold(({ crm, credentials }) =>
      Array.from({ length: transfers }, () => ({
        port: crm,
        path: leads,
        headers: { ...credentials, Accept: 'text/csv' },
      })),
    ),
    strongAfter: transfers,
  },
  imports: {
    run: hold(({ crm, credentials }) =>
      Array.from({ length: transfers }, () => ({
        port: crm,
        path: `${leads}/import`,
        method: 'POST' as const,
        headers: { ...credentials, 'Content-Type': 'text/csv' },
        body: 'campaignCode,name,phone\n',
      })),
    ),
    // The service answers the imports that it rejects, which are those beyond 4.
    strongAfter: transfers - 4,
  },
  unknownKeys: { run: sendUnknownKeys, strongAfter: keysPerSecond },
  longLeads: {
    run: flood(({ intake, credentials }) => submit(intake, { ...credentials }, longPhone)),
    strongAfter: connections,
  },
} as const satisfies Readonly<Record<string, Attack>>;
