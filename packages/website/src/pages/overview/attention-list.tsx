import type { Attention } from '@leads/core/overview';
import { Group, List, Paper, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { failingEndpointsQuery } from '../../api/endpoints.ts';
import { attentionQuery } from '../../api/overview.ts';
import { AnchorLink } from '../../shell/links.tsx';
import { QueryState } from '../../shell/states.tsx';
import { relativeTime, useNow } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';
import { dueCallbacks, type ListView, myDueCallbacks } from '../../leads/built-in-views.ts';
import { formatNumber } from '../../shell/numbers.ts';
import { LeadsLink } from '../../leads/leads-link.tsx';

const t = texts.overview.attention;

/** What needs the user's attention, each with a link to the place where it is mended. Nothing if nothing does. */
export function AttentionList() {
  const query = useQuery(attentionQuery);
  return (
    <>
      {/* Without a loader: the page waits for the first response. */}
      {query.error !== null && <QueryState query={query} />}
      {query.data !== undefined && <Items attention={query.data} />}
    </>
  );
}

function Items({ attention }: { attention: Attention }) {
  const { data: failing = [] } = useQuery(failingEndpointsQuery);
  const now = useNow();
  const { waiting, callbacks, landingPages, credentials, limited, rejected } = attention;
  const items: { key: string; text: string; link: ReactNode }[] = [];
  if (waiting !== undefined) {
    items.push({
      key: 'waiting',
      text: t.waiting(
        `${formatNumber(waiting.leads)}${waiting.isMore ? '+' : ''}`,
        waiting.leads === 1,
        relativeTime(waiting.oldestAt, now),
      ),
      link: <LeadsLink filters={{ status: 'OnHold', sort: 'createdAt' }}>{t.review}</LeadsLink>,
    });
  }
  if (callbacks !== undefined) {
    const { leads, isMore, ofCaller, oldestAt } = callbacks;
    const countOf = (count: number) => `${formatNumber(count)}${isMore ? '+' : ''}`;
    items.push({
      key: 'callbacks',
      text: t.callbacks(
        countOf(leads),
        leads === 1,
        ofCaller === 0 ? undefined : countOf(ofCaller),
        relativeTime(oldestAt, now),
      ),
      link: (
        <>
          {ofCaller > 0 && <ViewLink view={myDueCallbacks}>{t.callMine}</ViewLink>}
          {(isMore || ofCaller < leads) && <ViewLink view={dueCallbacks}>{t.callAll}</ViewLink>}
        </>
      ),
    });
  }
  for (const kind of ['pending', 'unmapped', 'archived'] as const) {
    const count = landingPages[kind];
    if (count === 0) continue;
    items.push({
      key: kind,
      text: t.landingPages[kind](formatNumber(count)),
      link: (
        <AnchorLink to="/campaigns" hash="landing-pages" size="sm">
          {t.landingPageLinks[kind]}
        </AnchorLink>
      ),
    });
  }
  for (const { id, kind, name, disabledReason, since } of failing) {
    items.push({
      key: id,
      text: t.endpoint(
        texts.common.endpointName[kind](name),
        disabledReason !== undefined,
        relativeTime(since, now),
      ),
      link: (
        <AnchorLink to={kind === 'webhook' ? '/webhooks/$id' : '/postbacks/$id'} params={{ id }} size="sm">
          {t.openEndpoint}
        </AnchorLink>
      ),
    });
  }
  for (const { id, kind, name, member, expiresAt } of credentials) {
    items.push({
      key: id,
      text: t.credential(
        t.credentialName[kind](name, member),
        Date.parse(expiresAt) <= now,
        relativeTime(expiresAt, now),
      ),
      link: (
        <AnchorLink to="/developers" size="sm">
          {t.openCredential}
        </AnchorLink>
      ),
    });
  }
  for (const [kind, keys] of [
    ['rejected', rejected],
    ['limited', limited],
  ] as const) {
    for (const { id, name, member, requests, lastAt } of keys) {
      items.push({
        key: `${kind} ${id}`,
        text: t[kind](t.credentialName.apiKey(name, member), requests, relativeTime(lastAt, now)),
        link: (
          <AnchorLink to="/developers" search={{ tab: 'requests', key: id }} size="sm">
            {t.openRequests}
          </AnchorLink>
        ),
      });
    }
  }
  if (items.length === 0) return null;
  return (
    <Paper
      component="section"
      withBorder
      p="md"
      aria-label={t.title}
      style={{ borderInlineStart: '4px solid var(--mantine-color-yellow-filled)' }}
    >
      <Title order={2} size="h4" mb="xs">
        {t.title}
      </Title>
      <List listStyleType="none" spacing={4}>
        {items.map(({ key, text, link }) => (
          <List.Item key={key}>
            <Group gap="2px 10px">
              <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
                {text}
              </Text>
              {link}
            </Group>
          </List.Item>
        ))}
      </List>
    </Paper>
  );
}

/** A link to the lead list with a view. */
function ViewLink({ view: { id, filters, sort }, children }: { view: ListView; children: ReactNode }) {
  return <LeadsLink filters={{ ...filters, ...(sort && { sort }), view: id }}>{children}</LeadsLink>;
}
