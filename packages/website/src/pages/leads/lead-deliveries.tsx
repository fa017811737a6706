import type { DeliveryView } from '@leads/core/delivery';
import type { LeadHistoryEntry, LeadStatus } from '@leads/core/lead';
import { Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { leadDeliveriesQuery } from '../../api/endpoints.ts';
import { leadHistoryQuery } from '../../api/leads.ts';
import { DeliveryStateBadge } from '../../shell/delivery-state.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { QueryState } from '../../shell/states.tsx';
import { exactTime } from '../../shell/time.ts';
import { endpoints as t } from '../../texts/endpoints.ts';
import { NextPageButton } from '../../shell/next-page-button.tsx';
import * as texts from '../../texts/index.ts';
import classes from './leads.module.css';

/** What was sent for a lead to the webhooks and postbacks that the user can see, newest first. */
export function LeadDeliveries({ id, status }: { id: string; status: LeadStatus }) {
  const query = useInfiniteQuery(leadDeliveriesQuery(id));
  const { data: history } = useQuery(leadHistoryQuery(id));
  const deliveries = query.data?.pages.flatMap((page) => page.deliveries);
  if (deliveries === undefined) return <QueryState query={query} />;
  if (deliveries.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.noneForLead}
      </Text>
    );
  }
  return (
    <Stack gap="xs" align="flex-start">
      <QueryState query={query} />
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label={t.deliveries}>
        {deliveries.map((delivery) => (
          <Delivery
            key={delivery.id}
            delivery={delivery}
            status={history === undefined ? undefined : statusAt(delivery.version ?? 1, history, status)}
          />
        ))}
      </Stack>
      <NextPageButton query={query} label={t.loadMore} size="xs" />
    </Stack>
  );
}

function Delivery({ delivery, status }: { delivery: DeliveryView; status: LeadStatus | undefined }) {
  const { webhookId, postbackId, host, event, state, skipReason, statusCode, error, attempts } = delivery;
  const result = error === undefined ? statusCode : t.errorOf(error);
  const time = delivery.lastAttemptAt ?? delivery.createdAt;
  const what = postbackId === undefined ? event : status && texts.leads.statuses[status];
  return (
    <li>
      <Group gap="xs">
        <AnchorLink
          to={postbackId === undefined ? '/webhooks/$id' : '/postbacks/$id'}
          params={{ id: postbackId ?? webhookId ?? '' }}
          size="sm"
          className={classes['wrap']}
        >
          {host}
        </AnchorLink>
        <Text size="sm">{what}</Text>
        <DeliveryStateBadge state={state} />
      </Group>
      <Text size="xs" c="dimmed">
        {[
          exactTime(time),
          ...(skipReason === undefined ? [] : [t.skipReasons[skipReason]]),
          ...(result === undefined ? [] : [`${t.answer}: ${result}`]),
          ...(attempts < 2 ? [] : [`${t.attempts}: ${attempts}`]),
        ].join(' · ')}
      </Text>
    </li>
  );
}

/** Returns the status of a lead in a version. */
function statusAt(version: number, history: readonly LeadHistoryEntry[], current: LeadStatus): LeadStatus {
  const until = history.findLast((entry) => entry.version <= version && entry.to !== undefined);
  const after = history.find((entry) => entry.version > version && entry.from !== undefined);
  return until?.to ?? after?.from ?? current;
}
