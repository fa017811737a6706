import {
  createSender,
  Deliverer,
  type DelivererEvents,
  type DeliveryQueue,
  type WebhookSettings,
} from '@leads/core/delivery';
import type { DeliverySettings } from '../config.ts';
import { destinationRulesOf } from './webhook-settings.ts';

/** A running deliverer. Disposing it also closes its connections. */
export type OpenDeliverer = Pick<Deliverer, 'backlog' | 'counts' | 'running'> & AsyncDisposable;

/** Starts to send the deliveries of all workspaces. Returns undefined without DELIVERIES_SECRET. */
export function openDeliverer(
  settings: DeliverySettings,
  queue: DeliveryQueue,
  { secrets }: Pick<WebhookSettings, 'secrets'>,
  events: DelivererEvents,
): OpenDeliverer | undefined {
  if (secrets === undefined) return undefined;
  const sender = createSender({
    ...destinationRulesOf(settings),
    proxyUrl: settings.DELIVERIES_PROXY_URL,
  });
  const deliverer = new Deliverer(queue, { sender, secrets }, events);
  return {
    get backlog() {
      return deliverer.backlog;
    },
    get counts() {
      return deliverer.counts;
    },
    get running() {
      return deliverer.running;
    },
    async [Symbol.asyncDispose]() {
      await deliverer[Symbol.asyncDispose]();
      await sender.close();
    },
  };
}
