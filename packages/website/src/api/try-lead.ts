import type { IntakeTry, IntakeTryAnswer } from '@leads/core/lead';
import { call } from './client.ts';

/** What a service answered to a lead that was sent to try a credential. */
export interface Tried {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly durationMs: number;
}

/** The headers of an answer that tell an integrator something. */
const shownHeaders = ['content-type', 'x-request-id', 'retry-after', 'deprecation', 'sunset'];

/** Sends a lead to the CRM API as an integrator does: with both credentials, and without the session. */
export async function tryCrm(headers: Readonly<Record<string, string>>, lead: object): Promise<Tried> {
  const start = performance.now();
  const response = await fetch('/api/v1/order/leads', {
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

/** Sends a lead to the intake, by way of the CRM service: a page of this website cannot reach another service. */
export async function tryIntake(
  apiKey: string,
  origin: string | undefined,
  lead: IntakeTry['lead'],
): Promise<Tried> {
  const start = performance.now();
  const { status, body } = await call<IntakeTryAnswer>('/console/try-intake', {
    method: 'POST',
    body: { apiKey, ...(origin !== undefined && { origin }), lead },
  });
  return { status, headers: [], body, durationMs: Math.round(performance.now() - start) };
}
