import { may } from '@leads/core/credential/roles';
import type { Me } from '@leads/core/account';
import type { LeadDetail } from '@leads/core/lead';
import { Anchor, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { roleOf } from '../../api/account.ts';
import { campaignsQuery } from '../../api/campaigns.ts';
import { leadViewersQuery, leaveLead, sameNumberQuery } from '../../api/lead-work.ts';
import { leadHistoryQuery, type LeadVersion } from '../../api/leads.ts';
import { membersQuery } from '../../api/members.ts';
import { shownName } from '../../leads/lead-name.ts';
import { nextStatuses, statusKeyOf, statusOf } from '../../leads/lead-status.ts';
import { campaignLabel } from '../../shell/campaign-option.ts';
import { IconEye } from '../../shell/icons.tsx';
import { memberName } from '../../shell/member-options.ts';
import { exactTime } from '../../shell/time.ts';
import { endpoints } from '../../texts/endpoints.ts';
import * as texts from '../../texts/index.ts';
import { leadHistory } from '../../texts/lead-history.ts';
import { LeadContact } from './lead-contact.tsx';
import { LeadDeliveries } from './lead-deliveries.tsx';
import { LeadHistory } from './lead-history.tsx';
import { LeadNotes } from './lead-notes.tsx';
import { LeadPayout } from './lead-payout.tsx';
import { PendingStatus, StatusBadge } from './lead-row.tsx';
import { LeadWork } from './lead-work.tsx';
import classes from './leads.module.css';
import { Copy, Fact, Section, takeFocus } from './panel-parts.tsx';
import type { StatusChanges } from './use-status-changes.tsx';

const t = texts.leads;

/** The data of the lead, and its parts that can be edited. */
export function LeadDetails({
  found,
  me,
  statusChanges,
  onOpen,
  hrefOf,
}: {
  found: LeadVersion;
  me: Me;
  statusChanges: StatusChanges;
  /** Opens a lead that this one refers to. */
  onOpen: (id: string) => void;
  hrefOf: (id: string) => string;
}) {
  const { lead } = found;
  const pending = statusChanges.pending.get(lead.id);
  const heading = useRef<HTMLHeadingElement>(null);
  const role = roleOf(me);
  const isInternalShown = may(role, 'readInternals');
  const members = useQuery({ ...membersQuery, enabled: may(role, 'readMembers') });
  const { data: campaigns } = useQuery(campaignsQuery);
  const campaign = campaigns?.find(({ id }) => id === lead.campaignId);
  const history = useQuery(leadHistoryQuery(lead.id));
  const since = history.data?.findLast(({ to }) => to === lead.status);
  const nameOf = (userId: string) =>
    userId === me.user.id ? leadHistory.you : memberName(members.data ?? [], userId);
  // The name of each lead is announced as it opens.
  useEffect(() => takeFocus(heading.current), []);
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group gap="sm">
          <Title ref={heading} tabIndex={-1} order={2} size="h4" className={classes['wrap']} dir="auto">
            {shownName(lead.name)}
          </Title>
          {pending === undefined ? <StatusBadge status={lead.status} /> : <PendingStatus status={pending} />}
        </Group>
        {isInternalShown && <Viewers id={lead.id} />}
        <Group gap="xs">
          <Anchor href={telOf(lead)} size="lg" fw={600} className={classes['wrap']}>
            {lead.phone}
          </Anchor>
          <Copy value={lead.phone} label={t.fields.phone} />
        </Group>
        {since?.reason !== undefined && (
          <Text size="sm" className={classes['wrap']}>
            {since.userId === undefined ? leadHistory.events.holdEnded : `${t.reason}: “${since.reason}”`}
          </Text>
        )}
        <Fact
          label={t.campaign}
          value={campaign === undefined ? lead.campaignCode : campaignLabel(campaign)}
        />
        <Fact label={t.user} value={nameOf(lead.userId)} />
        <SameNumber lead={lead} hrefOf={hrefOf} onOpen={onOpen} />
        <Group gap="xs">
          {nextStatuses(lead.status, role).map((to) => (
            <Button
              key={to}
              size="compact-sm"
              variant="default"
              aria-keyshortcuts={statusKeyOf(to)}
              onClick={() => {
                // The button disappears with the current status.
                heading.current?.focus();
                statusChanges.change([lead], to);
              }}
            >
              {t.markAs(t.statuses[to])}
            </Button>
          ))}
        </Group>
      </Stack>
      <LeadPayout lead={lead} />
      {isInternalShown && <LeadWork found={found} members={members} />}
      {isInternalShown && <LeadNotes id={lead.id} />}
      <LeadContact found={found} />
      <AboutLead lead={lead} onOpen={onOpen} />
      <ReceivedData lead={lead} />
      <Section title={endpoints.deliveries}>
        <LeadDeliveries id={lead.id} status={lead.status} />
      </Section>
      <Section title={t.history}>
        <LeadHistory id={lead.id} nameOf={nameOf} />
      </Section>
    </Stack>
  );
}

/** The ids, times and source of the lead, and the lead that it duplicates. */
function AboutLead({ lead, onOpen }: { lead: LeadDetail; onOpen: (id: string) => void }) {
  return (
    <Section title={t.about}>
      <Fact label={t.id} value={lead.id} isCopied />
      <Fact label={t.phoneE164} value={lead.phoneE164} isCopied />
      <Fact label={t.source} value={t.sources[lead.source]} />
      <Fact label={t.created} value={exactTime(lead.createdAt)} />
      <Fact label={t.updated} value={exactTime(lead.updatedAt)} />
      {lead.duplicateOf !== undefined && (
        <Group gap="xs">
          <Fact label={t.duplicateOf} value={lead.duplicateOf} isCopied />
          <Button
            size="compact-sm"
            variant="light"
            onClick={() => lead.duplicateOf !== undefined && onOpen(lead.duplicateOf)}
          >
            {t.openOriginal}
          </Button>
        </Group>
      )}
    </Section>
  );
}

/** The data that came with the lead besides its contact. */
function ReceivedData({ lead }: { lead: LeadDetail }) {
  return (
    <Section title={t.raw}>
      <Fact label={t.s1} value={lead.s1} isCopied />
      <Fact label={t.lpName} value={lead.lpName} isCopied />
      <Fact label={t.ip} value={lead.ip} isCopied />
      {lead.extra !== undefined && (
        <Code block className={classes['json']}>
          {JSON.stringify(lead.extra, null, 2)}
        </Code>
      )}
      {lead.extra === undefined && lead.s1 === undefined && lead.lpName === undefined && (
        <Text size="sm" c="dimmed">
          {t.noRaw}
        </Text>
      )}
    </Section>
  );
}

/** Returns the address that calls a lead (RFC 3966). */
function telOf({ phone, phoneE164 }: LeadDetail): string {
  return `tel:${phoneE164 ?? phone.replaceAll(/[^+0-9]/g, '')}`;
}

/** Names the other users who have the lead open, so that two users do not work on it unawares. */
function Viewers({ id }: { id: string }) {
  const { data: viewers = [] } = useQuery(leadViewersQuery(id));
  useEffect(() => {
    return () => void leaveLead(id).catch(() => undefined);
  }, [id]);
  return (
    <Text component="div" size="sm" fw={600} role="status" className={classes['viewers']}>
      {viewers.length > 0 && (
        <>
          <IconEye size={16} aria-hidden /> {t.alsoOpen(viewers.map(({ name }) => name).join(', '))}
        </>
      )}
    </Text>
  );
}

/** Links to the other leads with the phone number. */
function SameNumber({
  lead,
  hrefOf,
  onOpen,
}: {
  lead: LeadDetail;
  hrefOf: (id: string) => string;
  onOpen: (id: string) => void;
}) {
  const { data = [] } = useQuery({
    ...sameNumberQuery(lead.phoneE164 ?? lead.phone),
    enabled: /\p{Nd}/u.test(lead.phone),
  });
  const others = data.filter(({ id }) => id !== lead.id);
  if (others.length === 0) return null;
  return (
    <div>
      <Text size="sm" c="dimmed">
        {t.sameNumber}
      </Text>
      <ul className={classes['notes']} aria-label={t.sameNumber}>
        {others.map((other) => (
          <li key={other.id}>
            <Anchor
              size="sm"
              href={hrefOf(other.id)}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                onOpen(other.id);
              }}
            >
              {t.otherLead(shownName(other.name), t.statuses[statusOf(other)], exactTime(other.createdAt))}
            </Anchor>
          </li>
        ))}
      </ul>
    </div>
  );
}
