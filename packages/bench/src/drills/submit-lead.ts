import { recordAnswer } from '../load/answers.ts';
import { postLead } from '../load/post-lead.ts';
import { submitPath } from '../load/requests.ts';
import type { Drill } from './drill.ts';

/**
 * Sends one lead in addition to the load, and records the response.
 *
 * @param lead.apiKey default: the load's key.
 * @param lead.idempotencyKey is also the click id of the lead.
 * @returns three digits, or `broken` without a response.
 */
export async function submitLead(
  { stack, answersFile }: Drill,
  lead: { apiKey?: string; idempotencyKey?: string } = {},
): Promise<string> {
  const { apiKey = stack.credentials.API_KEY, idempotencyKey } = lead;
  const sentAt = performance.now();
  const { status, id } = await postLead(
    `http://127.0.0.1:${stack.intakePort}${submitPath}`,
    { API_KEY: apiKey, ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }) },
    { s1: idempotencyKey },
  );
  recordAnswer(answersFile, { at: Date.now(), latencyMs: performance.now() - sentAt, status, id });
  return status;
}
