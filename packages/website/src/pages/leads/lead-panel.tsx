import type { Me } from '@leads/core/account';
import type { Lead, LeadDetail, LeadStatus } from '@leads/core/lead';
import { ActionIcon, Anchor, Button, CloseButton, Code, Group, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import {
  type KeyboardEvent,
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { campaignsQuery } from '../../api/campaigns.ts';
import { ApiError } from '../../api/api-error.ts';
import { leadViewersQuery, leaveLead, sameNumberQuery } from '../../api/lead-work.ts';
import { type LeadVersion, leadHistoryQuery, leadQuery } from '../../api/leads.ts';
import { membersQuery } from '../../api/members.ts';
import { campaignLabel } from '../../shell/campaign-option.ts';
import { useCommands } from '../../shell/commands.ts';
import { ConfirmDialog } from '../../shell/confirm-dialog.tsx';
import { IconChevronDown, IconChevronUp, IconEye } from '../../shell/icons.tsx';
import { inert } from '../../shell/inert.ts';
import { keepFocus } from '../../shell/keep-focus.ts';
import { isInModal } from '../../shell/modal.ts';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { exactTime } from '../../shell/time.ts';
import { useFocusBack } from '../../shell/use-focus-back.ts';
import { endpoints } from '../../texts/endpoints.ts';
import * as texts from '../../texts/index.ts';
import type { EarlyKeys } from './early-keys.ts';
import { LeadContact } from './lead-contact.tsx';
import { LeadDeliveries } from './lead-deliveries.tsx';
import { LeadHistory } from './lead-history.tsx';
import { LeadNotes } from './lead-notes.tsx';
import { LeadPayout } from './lead-payout.tsx';
import { PendingStatus, StatusBadge } from './lead-row.tsx';
import type { LeadSearch } from '../../leads/lead-search.ts';
import { nextStatuses, statusKeys, statusOf } from '../../leads/lead-status.ts';
import { LeadWork } from './lead-work.tsx';
import classes from './leads.module.css';
import { Copy, Fact, Section, Unsaved } from './panel-parts.tsx';
import type { StatusChanges } from './use-status-changes.tsx';

const t = texts.leads;

/** The elements in which keys are not shortcuts of the panel. Esc closes the panel from everywhere. */
const typedInto = 'input, textarea, select';

interface PanelProps {
  readonly id: string;
  readonly me: Me;
  /** The leads of the list, in its order. */
  readonly queue: readonly Lead[];
  readonly statusChanges: StatusChanges;
  readonly earlyKeys: EarlyKeys;
  /** Opens another lead of the queue in place of this one. */
  readonly onMove: (id: string) => void;
  /** Opens a lead that this one refers to. */
  readonly onOpen: (id: string) => void;
  readonly onClose: () => void;
  readonly hrefOf: (id: string) => string;
}

/** Copies a phone number. Browsers have no clipboard for pages over plain HTTP. */
async function copyPhone(phone: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(phone);
  } catch {
    notifications.show({ color: 'red', message: t.phoneNotCopied });
  }
}

/** Shows a lead beside the list. After a status key, the next lead of the list opens. */
export function LeadPanel(props: PanelProps) {
  const { id, me, queue, statusChanges, earlyKeys, onMove, onClose } = props;
  useFocusBack();
  const queryClient = useQueryClient();
  const found = useQuery(leadQuery(id));
  const canChange = (me.workspace?.role ?? 'publisher') !== 'publisher';
  const { at, previous, next } = usePlace(queue, id);
  const nextId = next?.id;
  // The lead that the last key has requested. The page shows it some milliseconds later, and the next key may be earlier.
  const requested = useRef(id);
  useLayoutEffect(() => {
    requested.current = id;
  }, [id]);
  const move = (to: Lead | undefined) => {
    if (to === undefined) return;
    requested.current = to.id;
    onMove(to.id);
  };
  /** The last lead of the list, after a change of its status. */
  const [ended, setEnded] = useState<string>();
  const isEnd = ended === id && next === undefined;
  const moveOn = () => (next === undefined ? setEnded(id) : move(next));
  const moveBy = (step: 1 | -1) => {
    const from = queue.findIndex((lead) => lead.id === requested.current);
    if (requested.current === id || from === -1) move(step === 1 ? next : previous);
    else move(queue[from + step]);
  };
  useEffect(() => {
    if (nextId !== undefined) void queryClient.prefetchQuery({ ...leadQuery(nextId), staleTime: 5_000 });
  }, [queryClient, nextId]);

  /** @param lead the lead that the user has read. @returns whether the key is a shortcut. */
  const handleKey = (key: string, lead: Lead | undefined): boolean => {
    const status = statusKeys[key];
    if (key === 'Escape') onClose();
    else if (key === 'j') moveBy(1);
    else if (key === 'k') moveBy(-1);
    else if (key === 'u' && canChange) statusChanges.undo();
    else if (status !== undefined && canChange) {
      // A key that comes before the next lead is shown must not change an unread lead.
      if (lead === undefined || requested.current !== lead.id) {
        notifications.show({ id: 'too-early', color: 'yellow', message: t.tooEarly });
      } else statusChanges.change([lead], status, moveOn);
    } else return false;
    return true;
  };
  /** Returns the lead of a row that the user has chosen in the list. */
  const findChosen = () => (earlyKeys.isChosen(id) ? queue.find((lead) => lead.id === id) : undefined);

  // The keys belong to the panel as soon as it is open, before its lead is loaded.
  const panel = useRef<HTMLElement>(null);
  const takeKeys = useEffectEvent(() => {
    for (const key of earlyKeys.take()) handleKey(key, findChosen());
  });
  useEffect(() => {
    if (panel.current?.contains(document.activeElement) !== true) takeFocus(panel.current);
    takeKeys();
  }, []);

  const unsaved = useRef(new Set<string>());
  const setUnsaved = useCallback((part: string, isUnsaved: boolean) => {
    if (isUnsaved) unsaved.current.add(part);
    else unsaved.current.delete(part);
  }, []);
  // Esc, the back button and links ask before they discard edits.
  const leaving = useBlocker({
    shouldBlockFn: ({ next: to }) => unsaved.current.size > 0 && (to.search as LeadSearch).lead !== id,
    enableBeforeUnload: () => unsaved.current.size > 0,
    withResolver: true,
  });

  const shown = found.data?.lead;
  useCommands([
    ...(shown === undefined ? [] : nextStatuses(shown.status, me.workspace?.role ?? 'publisher')).map(
      (to) => ({
        label: t.markAs(t.statuses[to]),
        isChange: true,
        shortcut: keyOf(to),
        run: () => shown && statusChanges.change([shown], to, moveOn),
      }),
    ),
    ...(shown === undefined ? [] : [{ label: t.copyPhone, run: () => void copyPhone(shown.phone) }]),
    { label: t.nextLead, shortcut: 'j', run: () => moveBy(1) },
    { label: t.previousLead, shortcut: 'k', run: () => moveBy(-1) },
  ]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (statusChanges.isDialogOpen || !(event.target instanceof Element)) return;
    if (event.key !== 'Escape' && event.target.closest(typedInto) !== null) return;
    // A key that is held down must not change the leads that follow.
    if (event.repeat && event.key in statusKeys) return;
    if (!handleKey(event.key, found.data?.lead ?? findChosen())) return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <>
      <div ref={keepFocus} className={classes['beside']}>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- A dialog handles the keys of its content. */}
        <section
          ref={panel}
          id="lead-panel"
          role="dialog"
          aria-label={t.detail}
          tabIndex={-1}
          className={classes['panel']}
          onKeyDown={onKeyDown}
        >
          <Group justify="space-between" wrap="nowrap" mb="xs">
            <Group gap={4} wrap="nowrap">
              <Step label={t.previousLead} to={previous} icon={IconChevronUp} onMove={move} />
              <Step label={t.nextLead} to={next} icon={IconChevronDown} onMove={move} />
              <Text size="xs" c="dimmed">
                {at !== -1 ? t.place(at + 1, queue.length) : isEnd ? '' : t.notListed}
              </Text>
              <Text size="xs" fw={600} role="status">
                {isEnd ? t.wasLast : ''}
              </Text>
            </Group>
            <CloseButton aria-label={texts.common.close} onClick={onClose} />
          </Group>
          {found.data !== undefined ? (
            <Unsaved value={setUnsaved}>
              <Detail key={id} found={found.data} {...props} />
            </Unsaved>
          ) : found.isError ? (
            found.error instanceof ApiError && found.error.status === 404 ? (
              <Text>{t.notFound}</Text>
            ) : (
              <ErrorNotice error={found.error} onRetry={() => void found.refetch()} />
            )
          ) : (
            <PendingPage />
          )}
        </section>
      </div>
      {leaving.status === 'blocked' && (
        <ConfirmDialog
          title={t.discardTitle}
          action={t.discard}
          onConfirm={async () => leaving.proceed()}
          onClose={leaving.reset}
        >
          <Text size="sm">{t.discardLead}</Text>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Returns the neighbors of a lead in the queue. A lead that has left the queue keeps the place that it had. */
function usePlace(queue: readonly Lead[], id: string) {
  const at = queue.findIndex((lead) => lead.id === id);
  const [known, setKnown] = useState({ id, at });
  if (at !== -1 && (known.id !== id || known.at !== at)) setKnown({ id, at });
  const place = at === -1 && known.id === id ? known.at : at;
  return {
    at,
    previous: queue[place - 1],
    next: at === -1 ? queue[Math.max(place, 0)] : queue[at + 1],
  };
}

function Step({
  label,
  to,
  icon: Icon,
  onMove,
}: {
  label: string;
  to: Lead | undefined;
  icon: typeof IconChevronUp;
  onMove: (to: Lead | undefined) => void;
}) {
  return (
    <ActionIcon
      variant="default"
      aria-label={label}
      title={label}
      {...inert(to === undefined)}
      onClick={() => onMove(to)}
    >
      <Icon size={16} aria-hidden />
    </ActionIcon>
  );
}

function Detail({ found, me, statusChanges, onOpen, hrefOf }: PanelProps & { found: LeadVersion }) {
  const { lead } = found;
  const pending = statusChanges.pending.get(lead.id);
  const heading = useRef<HTMLHeadingElement>(null);
  const role = me.workspace?.role ?? 'publisher';
  const isManager = role !== 'publisher';
  const { data: members = [] } = useQuery({ ...membersQuery, enabled: isManager });
  const { data: campaigns } = useQuery(campaignsQuery);
  const campaign = campaigns?.find(({ id }) => id === lead.campaignId);
  const history = useQuery(leadHistoryQuery(lead.id));
  const since = history.data?.findLast(({ to }) => to === lead.status);
  const nameOf = (userId: string) =>
    userId === me.user.id
      ? t.you
      : (members.find((member) => member.userId === userId)?.name ?? `${userId.slice(0, 8)}…`);
  // The name of each lead is announced as it opens.
  useEffect(() => takeFocus(heading.current), []);
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group gap="sm">
          <Title ref={heading} tabIndex={-1} order={2} size="h4" className={classes['wrap']} dir="auto">
            {lead.name}
          </Title>
          {pending === undefined ? <StatusBadge status={lead.status} /> : <PendingStatus status={pending} />}
        </Group>
        {isManager && <Viewers id={lead.id} />}
        <Group gap="xs">
          <Anchor href={telOf(lead)} size="lg" fw={600} className={classes['wrap']}>
            {lead.phone}
          </Anchor>
          <Copy value={lead.phone} label={t.fields.phone} />
        </Group>
        {since?.reason !== undefined && (
          <Text size="sm" className={classes['wrap']}>
            {since.userId === undefined ? t.events.holdEnded : `${t.reason}: “${since.reason}”`}
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
              aria-keyshortcuts={keyOf(to)}
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
      <LeadPayout lead={lead} isManager={isManager} />
      {isManager && <LeadWork found={found} members={members} />}
      {isManager && <LeadNotes id={lead.id} />}
      <LeadContact found={found} />
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
      <Section title={endpoints.deliveries}>
        <LeadDeliveries id={lead.id} status={lead.status} />
      </Section>
      <Section title={t.history}>
        <LeadHistory id={lead.id} nameOf={nameOf} />
      </Section>
    </Stack>
  );
}

/** Focuses a part of the panel, unless the user is in a dialog above the page. */
function takeFocus(part: HTMLElement | null): void {
  if (!isInModal(document.activeElement)) part?.focus({ preventScroll: true });
}

const keyOf = (status: LeadStatus) => Object.keys(statusKeys).find((key) => statusKeys[key] === status);

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
              {t.otherLead(other.name, t.statuses[statusOf(other)], exactTime(other.createdAt))}
            </Anchor>
          </li>
        ))}
      </ul>
    </div>
  );
}
