import { createDestinationGuard, createSecretBox, type WebhookSettings } from '@leads/core/delivery';
import type { DeliverySettings } from '../config.ts';

/** Returns the rules for destinations of the settings. */
export function destinationRulesOf(settings: DeliverySettings) {
  const networks = settings.DELIVERIES_ALLOW_NETWORKS.split(',').map((network) => network.trim());
  return {
    allowHttp: settings.DELIVERIES_ALLOW_HTTP,
    allowNetworks: networks.filter((network) => network !== ''),
  };
}

/** Returns what creating webhooks needs of the settings. */
export function webhookSettingsOf(settings: DeliverySettings): WebhookSettings {
  const { DELIVERIES_SECRET: current, DELIVERIES_PREVIOUS_SECRET: previous } = settings;
  return {
    secrets:
      current === undefined
        ? undefined
        : createSecretBox({ current, previous: previous === undefined ? [] : [previous] }),
    destinations: createDestinationGuard(destinationRulesOf(settings)),
  };
}
