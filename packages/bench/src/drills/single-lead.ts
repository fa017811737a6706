import { leadPath } from '../intake/lead-requests.ts';
import { recordAnswer } from './answers.ts';
import type { Drill } from './drill.ts';

const timeoutMs = 30_000;

/**
 * Sends one lead, beside the load, and writes down what is answered.
 *
 * @param lead.apiKey default: that of the load.
 * @param lead.repeatable sent again under the same name it is the same lead.
 * @returns three digits, or `broken` where there is no answer.
 */
export async function submitLead(
  { stack, answersFile }: Drill,
  lead: { apiKey?: string; repeatable?: string } = {},
): Promise<string> {
  const { apiKey = stack.credentials.API_KEY, repeatable } = lead;
  const sentAt = performance.now();
  const { status, id } = await send(`http://127.0.0.1:${stack.intakePort}${leadPath}`, {
    method: 'POST',
    headers: {
      API_KEY: apiKey,
      'Content-Type': 'application/json',
      ...(repeatable !== undefined && { 'Idempotency-Key': repeatable }),
    },
    body: JSON.stringify({ name: 'Grace Hopper', phone: '+1 202 555 0143', s1: repeatable }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  recordAnswer(answersFile, { at: Date.now(), tookMs: performance.now() - sentAt, status, id });
  return status;
}

async function send(url: string, request: RequestInit): Promise<{ status: string; id: string | undefined }> {
  try {
    const response = await fetch(url, request);
    const { order_id: id } = (await response.json()) as { order_id?: string };
    return { status: String(response.status), id };
  } catch {
    return { status: 'broken', id: undefined };
  }
}
