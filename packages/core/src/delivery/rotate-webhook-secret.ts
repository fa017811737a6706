import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { toWebhookView } from './webhook.ts';
import { createWebhookSecret } from './webhook-signature.ts';
import { requireSecrets, type WebhookSettings } from './webhook-settings.ts';
import type { WebhookStore } from './webhook-store.ts';
import { overlapSeconds as overlap, type SecretRotation, type WebhookView } from './webhook.schema.ts';

/** The maximum overlap, in seconds. */
export const maxOverlapSeconds = overlap.maximum;

/**
 * Replaces the secret of a webhook. During the overlap, requests are signed with both secrets.
 *
 * @throws LeadsError `not_found`; `conflict` without DELIVERIES_SECRET.
 */
export async function rotateWebhookSecret(
  webhooks: Pick<WebhookStore, 'rotateSecret'>,
  settings: WebhookSettings,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  id: string,
  { overlapSeconds = overlap.default }: SecretRotation,
): Promise<{ webhook: WebhookView; secret: string }> {
  const secret = createWebhookSecret();
  const sealed = requireSecrets(settings).seal(secret, id);
  const until = new Date(Date.now() + overlapSeconds * 1_000);
  const webhook = await webhooks.rotateSecret(workspaceId, id, sealed, until);
  if (webhook === undefined) throw new LeadsError('not_found');
  return { webhook: toWebhookView(webhook), secret };
}
