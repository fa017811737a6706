/**
 * Returns the `webhook-id` of a delivery, the same in every attempt. It has no dot, because a dot separates the signed
 * parts (Standard Webhooks 1.0).
 */
export function webhookMessageId({
  id,
  leadId,
  version,
}: {
  readonly id: string;
  readonly leadId?: string | undefined;
  readonly version?: number | undefined;
}): string {
  return leadId === undefined ? `evt_${id}` : `evt_${leadId}_${version}`;
}
