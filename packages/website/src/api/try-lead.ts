import type { IntakeTry, IntakeTryAnswer } from '@leads/core/lead';
import { call, fetchAnswer } from './client.ts';

/** The response of a service to a test lead. */
export interface TestResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly durationMs: number;
}

/** The response headers that are useful to an integrator. */
const shownHeaders = ['content-type', 'x-request-id', 'retry-after', 'deprecation', 'sunset'];

/** Sends a lead to the CRM API like an integrator: with both credentials and without the session. */
export async function tryCrm(headers: Readonly<Record<string, string>>, lead: object): Promise<TestResponse> {
  const start = performance.now();
  const response = await fetchAnswer('/api/v1/order/leads', {
    method: 'POST',
    credentials: 'omit',
    headers,
    body: JSON.stringify(lead),
  });
  const body = await response.text();
  return {
    status: response.status,
    headers: shownHeaders.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    }),
    body,
    durationMs: Math.round(performance.now() - start),
  };
}

/** Sends a lead to the intake through the CRM service, because a page of this website cannot call another service. */
export async function tryIntake(
  apiKey: string,
  origin: string | undefined,
  lead: IntakeTry['lead'],
): Promise<TestResponse> {
  const start = performance.now();
  const { status, body } = await call<IntakeTryAnswer>('/console/try-intake', {
    method: 'POST',
    body: { apiKey, ...(origin !== undefined && { origin }), lead },
  });
  return { status, headers: [], body, durationMs: Math.round(performance.now() - start) };
}
