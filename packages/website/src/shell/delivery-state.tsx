import type { DeliveryState } from '@leads/core/delivery';
import { Badge } from '@mantine/core';
import { endpoints as t } from '../texts/endpoints.ts';

const colors: Readonly<Record<DeliveryState, string>> = {
  waiting: 'yellow',
  delivered: 'green',
  failed: 'red',
  skipped: 'gray',
  superseded: 'gray',
};

/** The state of a delivery. */
export function DeliveryStateBadge({ state }: { state: DeliveryState }) {
  return (
    <Badge variant="dot" color={colors[state]}>
      {t.states[state]}
    </Badge>
  );
}
