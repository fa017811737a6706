import { may } from '@leads/core/credential/roles';
import type { Me } from '@leads/core/account';
import type { Lead } from '@leads/core/lead';
import { ActionIcon, CloseButton, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useEffectEvent, useRef } from 'react';
import { roleOf } from '../../api/account.ts';
import { ApiError } from '../../api/api-error.ts';
import { leadQuery } from '../../api/leads.ts';
import { nextStatuses, statusKeyOf, statusKeys } from '../../leads/lead-status.ts';
import { useCommands } from '../../shell/commands.ts';
import { IconChevronDown, IconChevronUp } from '../../shell/icons.tsx';
import { inert } from '../../shell/inert.ts';
import { keepFocus } from '../../shell/keep-focus.ts';
import { shortcutKeyOf } from '../../shell/shortcut-key.ts';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { useFocusBack } from '../../shell/use-focus-back.ts';
import * as texts from '../../texts/index.ts';
import type { EarlyKeys } from './early-keys.ts';
import { LeadDetails } from './lead-details.tsx';
import classes from './leads.module.css';
import { takeFocus } from './panel-parts.tsx';
import { UnsavedEdits } from './unsaved-edits.tsx';
import { useQueue } from './use-queue.ts';
import type { StatusChanges } from './use-status-changes.tsx';

const t = texts.leads;

/** The elements in which keys are not shortcuts of the panel. Esc closes the panel from everywhere. */
const typedInto = 'input, textarea, select';

/** Copies a phone number. Browsers have no clipboard for pages over plain HTTP. */
async function copyPhone(phone: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(phone);
  } catch {
    notifications.show({ color: 'red', message: t.phoneNotCopied });
  }
}

/** Shows a lead beside the list. After a status key, the next lead of the list opens. */
export function LeadPanel({
  id,
  me,
  isListLoaded,
  queue,
  statusChanges,
  earlyKeys,
  onMove,
  onOpen,
  onClose,
  hrefOf,
}: {
  id: string;
  me: Me;
  isListLoaded: boolean;
  /** The leads of the list, in its order. */
  queue: readonly Lead[];
  statusChanges: StatusChanges;
  earlyKeys: EarlyKeys;
  /** Opens another lead of the queue in place of this one. */
  onMove: (id: string) => void;
  /** Opens a lead that this one refers to. */
  onOpen: (id: string) => void;
  onClose: () => void;
  hrefOf: (id: string) => string;
}) {
  useFocusBack();
  const found = useQuery(leadQuery(id));
  const role = roleOf(me);
  const canChange = may(role, 'changeStatuses');
  const { at, previous, next, isEnd, isRequested, move, moveOn, moveBy } = useQueue(queue, id, onMove);

  /** @param lead the lead that the user has read. @returns whether the key is a shortcut. */
  const handleKey = (key: string, lead: Lead | undefined): boolean => {
    const status = statusKeys[key];
    if (key === 'Escape') onClose();
    else if (key === 'j') moveBy(1);
    else if (key === 'k') moveBy(-1);
    else if (key === 'u' && canChange) statusChanges.undo();
    else if (status !== undefined && canChange) {
      // A key that comes before the next lead is shown must not change an unread lead.
      if (lead === undefined || !isRequested(lead)) {
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

  const shown = found.data?.lead;
  useCommands([
    ...(shown === undefined ? [] : nextStatuses(shown.status, role)).map((to) => ({
      label: t.markAs(t.statuses[to]),
      isChange: true,
      shortcut: statusKeyOf(to),
      run: () => shown && statusChanges.change([shown], to, moveOn),
    })),
    ...(shown === undefined ? [] : [{ label: t.copyPhone, run: () => void copyPhone(shown.phone) }]),
    { label: t.nextLead, shortcut: 'j', run: () => moveBy(1) },
    { label: t.previousLead, shortcut: 'k', run: () => moveBy(-1) },
  ]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (statusChanges.isDialogOpen || !(event.target instanceof Element)) return;
    if (event.key !== 'Escape' && event.target.closest(typedInto) !== null) return;
    const key = shortcutKeyOf(event.nativeEvent);
    // A key that is held down must not change the leads that follow.
    if (event.repeat && key in statusKeys) return;
    if (!handleKey(key, found.data?.lead ?? findChosen())) return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <UnsavedEdits leadId={id}>
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
                {at !== -1 ? t.place(at + 1, queue.length) : isListLoaded && !isEnd ? t.notListed : ''}
              </Text>
              <Text size="xs" fw={600} role="status">
                {isEnd ? t.wasLast : ''}
              </Text>
            </Group>
            <CloseButton aria-label={texts.common.close} onClick={onClose} />
          </Group>
          {found.data !== undefined ? (
            <LeadDetails
              key={id}
              found={found.data}
              me={me}
              statusChanges={statusChanges}
              onOpen={onOpen}
              hrefOf={hrefOf}
            />
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
    </UnsavedEdits>
  );
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
