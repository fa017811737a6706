import type { WebhookView } from '@leads/core/delivery';
import { Badge } from '@mantine/core';
import { RelativeTime } from '../../shell/relative-time.tsx';
import { webhooks as t } from '../../texts/webhooks.ts';

/** Whether a webhook sends events, and whether they arrive. */
export function WebhookState({ webhook: { enabled, failures } }: { webhook: WebhookView }) {
  if (!enabled)
    return (
      <Badge variant="dot" color="gray">
        {t.disabled}
      </Badge>
    );
  return failures === 0 ? (
    <Badge variant="dot" color="green">
      {t.enabled}
    </Badge>
  ) : (
    <Badge variant="dot" color="red">
      {t.failing}
    </Badge>
  );
}

/** The facts of a webhook that its row and its page show. */
export function webhookFacts({
  events,
  statuses,
  campaignCodes,
  lastSuccessAt,
  failures,
  failingSince,
}: WebhookView) {
  return [
    [t.events, events.join(', ')] as const,
    ...(statuses.length === 0 ? [] : [[t.statuses, statuses.join(', ')] as const]),
    ...(campaignCodes.length === 0 ? [] : [[t.campaigns, campaignCodes.join(', ')] as const]),
    [t.lastSuccess, <RelativeTime key="success" at={lastSuccessAt} />] as const,
    ...(failures === 0
      ? []
      : ([
          [t.failures, failures],
          [t.failingSince, <RelativeTime key="failing" at={failingSince} />],
        ] as const)),
  ];
}
