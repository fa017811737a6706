import type { WebhookView } from '@leads/core/delivery';

/** Returns the details of a webhook for the audit log. The path and query of a URL may contain a secret. */
export function webhookDetails({ url, events }: Pick<WebhookView, 'url' | 'events'>) {
  return { host: new URL(url).host, events: events.join(', ') };
}
