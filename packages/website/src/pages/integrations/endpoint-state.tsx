import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Endpoint } from '../../api/endpoints.ts';
import { ExactTime } from '../../shell/relative-time.tsx';
import { endpoints as t } from '../../texts/endpoints.ts';
import * as texts from '../../texts/index.ts';
import { postbacks } from '../../texts/postbacks.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { inOrder } from '../../leads/lead-status.ts';

/** The fact of a row: its label and its value. */
type Fact = readonly [label: string, value: ReactNode];

/** Whether an endpoint sends events, and whether they arrive. */
export function EndpointState({ endpoint: { enabled, failures } }: { endpoint: Endpoint }) {
  const [label, color] = !enabled
    ? [t.disabled, 'gray']
    : failures === 0
      ? [t.enabled, 'green']
      : [t.failing, 'red'];
  return (
    <Badge variant="dot" color={color}>
      {label}
    </Badge>
  );
}

/** The facts of an endpoint that its row and its page show: its subscription and its health. */
export function endpointFacts(endpoint: Endpoint): Fact[] {
  const { description, successRate, lastSuccessAt, nextAttemptAt, lagSeconds, failures, failingSince } =
    endpoint;
  return [
    ...(description === undefined ? [] : ([[t.description, description]] as const)),
    ...subscriptionOf(endpoint),
    ...(successRate === undefined ? [] : ([[t.successRate, t.rate(successRate)]] as const)),
    [t.lastSuccess, <ExactTime key="success" at={lastSuccessAt} />],
    ...(nextAttemptAt === undefined
      ? []
      : lagSeconds > 0
        ? ([[t.lag, t.lagOf(lagSeconds)]] as const)
        : ([[t.nextTry, <ExactTime key="next" at={nextAttemptAt} />]] as const)),
    ...(failures === 0
      ? []
      : ([
          [t.failures, failures],
          [t.failingSince, <ExactTime key="failing" at={failingSince} />],
        ] as const)),
  ];
}

function subscriptionOf(endpoint: Endpoint): Fact[] {
  const statuses = inOrder(endpoint.statuses)
    .map((status) => texts.leads.statuses[status])
    .join(', ');
  if ('events' in endpoint) {
    const { events, campaignCodes } = endpoint;
    return [
      [webhooks.events, events.join(', ')],
      ...(statuses === '' ? [] : ([[webhooks.statuses, statuses]] as const)),
      ...(campaignCodes.length === 0 ? [] : ([[webhooks.campaigns, campaignCodes.join(', ')]] as const)),
    ];
  }
  const { owner, method, bodyFormat, campaignCode } = endpoint;
  return [
    [postbacks.owner, postbacks.owners[owner]],
    [postbacks.request, postbacks.requests[bodyFormat ?? method]],
    [postbacks.statuses, statuses],
    ...(campaignCode === undefined ? [] : ([[postbacks.campaign, campaignCode]] as const)),
  ];
}
