const timeoutMs = 30_000;

/**
 * Posts one lead with fetch.
 *
 * @param fields more fields of the lead.
 * @returns the status (three digits, or `broken` without a response) and the id of the acknowledged lead.
 */
export async function postLead(
  url: string,
  headers: Readonly<Record<string, string>>,
  fields: object = {},
): Promise<{ status: string; id: string | undefined }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Grace Hopper', phone: '+1 202 555 0143', ...fields }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = (await response.json()) as { order_id?: string; lead?: { id: string } };
    return { status: String(response.status), id: body.order_id ?? body.lead?.id };
  } catch {
    return { status: 'broken', id: undefined };
  }
}
