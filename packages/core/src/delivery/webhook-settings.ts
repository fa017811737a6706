import { LeadsError } from '../errors.ts';
import type { DestinationGuard } from './destination.ts';
import type { SecretBox } from './secret-box.ts';

/** What creating and changing webhooks needs from the operator's settings. */
export interface WebhookSettings {
  /** Absent without DELIVERIES_SECRET. */
  readonly secrets: SecretBox | undefined;
  readonly destinations: Pick<DestinationGuard, 'checkUrl'>;
}

/** @throws LeadsError `conflict` without DELIVERIES_SECRET. */
export function requireSecrets(
  { secrets }: Pick<WebhookSettings, 'secrets'>,
  kind: 'Webhooks' | 'Postbacks' = 'Webhooks',
): SecretBox {
  if (secrets !== undefined) return secrets;
  throw new LeadsError('conflict', {
    message: `${kind} are not available: the operator must set DELIVERIES_SECRET`,
  });
}
