import { Alert, Button, Group, List, Radio, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { needsReason } from '@leads/core/lead/transitions';
import type { MemberRole } from '@leads/core/credential';
import type { Lead, LeadStatus } from '@leads/core/lead';
import { type ReactNode, useRef, useState } from 'react';
import { Dialog } from '../../shell/dialog.tsx';
import { changeStatuses, type StatusResult } from '../../api/leads.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { texts } from '../../texts/index.ts';
import { commonStatuses, statusOf, wayBack } from './lead-status.ts';
import { updateListed } from './use-lead-list.ts';

const t = texts.leads;
/** How long a change may be taken back by its notification. */
const undoMs = 12_000;

interface Change {
  readonly leads: readonly Lead[];
  readonly to: LeadStatus;
}

interface Refusal {
  readonly id: string;
  readonly name: string;
  readonly message: string;
}

export interface StatusChanges {
  /** Changes the status of leads, and asks before for what has to be known. */
  change(leads: readonly Lead[], to: LeadStatus): void;
  /** Takes the last change back. */
  undo(): void;
  /** Whether something is being asked: the keys are for that. */
  readonly isAsking: boolean;
  /** What is asked and told meanwhile. */
  readonly dialogs: ReactNode;
}

export function useStatusChanges(role: MemberRole): StatusChanges {
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState<Change & { for: 'reason' | 'confirmation' }>();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const lastUndo = useRef<(() => void) | undefined>(undefined);
  /** Only the last change can be taken back: the ones before may build upon nothing any more. */
  const lastNotice = useRef<string>(undefined);

  /** @returns the leads that were changed. */
  const apply = async ({ leads, to }: Change, reason?: string): Promise<readonly Lead[]> => {
    const results = await changeStatuses({
      ids: leads.map(({ id }) => id),
      status: to,
      ...(reason !== undefined && { reason }),
    });
    const outcome = new Map(results.map((result) => [result.id, result]));
    const changed = leads.filter(({ id }) => outcome.get(id)?.success === true);
    const ids = new Set(changed.map(({ id }) => id));
    updateListed(queryClient, (lead) => (ids.has(lead.id) ? { ...lead, status: to } : lead));
    for (const id of ids) void queryClient.invalidateQueries({ queryKey: ['lead', id] });
    const refused = leads.filter(({ id }) => !ids.has(id));
    if (refused.length > 0) setRefusals(refused.map((lead) => refusalOf(lead, outcome.get(lead.id))));
    return changed;
  };

  const undo = useMutation({
    async mutationFn({ leads, to }: Change) {
      lastUndo.current = undefined;
      let count = 0;
      for (const from of new Set(leads.map(statusOf))) {
        let back = leads.filter((lead) => statusOf(lead) === from);
        let at = to;
        for (const next of wayBack(to, from, role) ?? []) {
          // One that somebody else has changed meanwhile stays as they left it.
          back = [
            ...(await apply({ leads: back, to: next }, needsReason(at, next) ? t.undoReason : undefined)),
          ];
          at = next;
        }
        count += back.length;
      }
      return count;
    },
    onSuccess: (count) => notifications.show({ message: t.undone(count) }),
    onError: (error) => notifications.show({ color: 'red', message: error.message }),
  });

  const run = useMutation({
    mutationFn: ({ reason, ...change }: Change & { reason?: string }) => apply(change, reason),
    onSuccess(changed, { to }) {
      setAsking(undefined);
      if (changed.length === 0) return;
      const canUndo = changed.every((lead) => wayBack(to, statusOf(lead), role) !== undefined);
      const id = `status-${to}-${Date.now()}`;
      if (lastNotice.current !== undefined) notifications.hide(lastNotice.current);
      lastNotice.current = id;
      const takeBack = () => {
        notifications.hide(id);
        undo.mutate({ leads: changed, to });
      };
      lastUndo.current = canUndo ? takeBack : undefined;
      notifications.show({
        id,
        autoClose: undoMs,
        message: (
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm">{t.changed(changed.length, t.statuses[to])}</Text>
            {canUndo && (
              <Button size="compact-sm" variant="light" onClick={takeBack}>
                {t.undo}
              </Button>
            )}
          </Group>
        ),
      });
    },
    onError(error) {
      // Where a dialog is open, it says so itself.
      if (asking === undefined) notifications.show({ color: 'red', message: error.message });
    },
  });

  return {
    change(leads, to) {
      if (leads.length === 0 || run.isPending) return;
      run.reset();
      if (!commonStatuses(leads, role).includes(to)) {
        const message = leads.length === 1 ? t.notAllowed : t.notAllowedFor(t.statuses[to]);
        notifications.show({ color: 'yellow', message });
      } else if (leads.some((lead) => needsReason(statusOf(lead), to))) {
        setAsking({ leads, to, for: 'reason' });
      } else if (leads.some((lead) => wayBack(to, statusOf(lead), role) === undefined)) {
        setAsking({ leads, to, for: 'confirmation' });
      } else {
        run.mutate({ leads, to });
      }
    },
    undo: () => lastUndo.current?.(),
    isAsking: asking !== undefined || refusals.length > 0,
    dialogs: (
      <>
        {asking?.for === 'reason' && (
          <ReasonDialog
            change={asking}
            isPending={run.isPending}
            error={run.error}
            onCancel={() => setAsking(undefined)}
            onReason={(reason) => run.mutate({ leads: asking.leads, to: asking.to, reason })}
          />
        )}
        {asking?.for === 'confirmation' && (
          <ConfirmDialog
            change={asking}
            isPending={run.isPending}
            error={run.error}
            onCancel={() => setAsking(undefined)}
            onConfirm={() => run.mutate({ leads: asking.leads, to: asking.to })}
          />
        )}
        {refusals.length > 0 && (
          <Dialog onClose={() => setRefusals([])} title={t.refusedTitle(refusals.length)}>
            <List size="sm" listStyleType="none">
              {refusals.map(({ id, name, message }) => (
                <List.Item key={id}>
                  <b>{name}</b>: {message}
                </List.Item>
              ))}
            </List>
          </Dialog>
        )}
      </>
    ),
  };
}

function refusalOf({ id, name }: Lead, result: StatusResult | undefined): Refusal {
  return { id, name, message: result?.message ?? texts.common.somethingWrong };
}

interface DialogProps {
  readonly change: Change;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onCancel: () => void;
}

/** Before what cannot be undone. */
function ConfirmDialog({
  change: { leads, to },
  isPending,
  error,
  onCancel,
  onConfirm,
}: DialogProps & { onConfirm: () => void }) {
  return (
    <Dialog onClose={onCancel} title={t.finalTitle(t.statuses[to])}>
      <Stack>
        <Text size="sm">{t.finalLead(leads.length)}</Text>
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {texts.common.cancel}
          </Button>
          <Button data-autofocus loading={isPending} onClick={onConfirm}>
            {t.confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function ReasonDialog({
  change: { leads, to },
  isPending,
  error,
  onCancel,
  onReason,
}: DialogProps & { onReason: (reason: string) => void }) {
  const [chosen, setChosen] = useState('');
  const [own, setOwn] = useState('');
  const [isMissing, setMissing] = useState(false);
  const reasons = to === 'Trashed' ? t.reasons.trash : t.reasons.unpay;
  const submit = () => {
    const reason = own.trim() || chosen;
    if (reason === '') setMissing(true);
    else onReason(reason);
  };
  return (
    <Dialog onClose={onCancel} title={t.reasonTitle(t.statuses[to], leads.length)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <Radio.Group label={t.reason} value={chosen} onChange={setChosen}>
            <Stack gap={6} mt={6}>
              {reasons.map((reason, i) => (
                <Radio
                  key={reason}
                  value={reason}
                  label={reason}
                  data-autofocus={i === 0 || undefined}
                  onKeyDown={(event) => {
                    // A radio alone does not send a form in every browser.
                    if (event.key !== 'Enter') return;
                    event.preventDefault();
                    submit();
                  }}
                />
              ))}
            </Stack>
          </Radio.Group>
          <TextInput
            label={t.ownReason}
            maxLength={1000}
            value={own}
            onChange={(event) => setOwn(event.currentTarget.value)}
          />
          {isMissing && own.trim() === '' && chosen === '' && (
            <Alert color="red" role="alert">
              {t.reasonNeeded}
            </Alert>
          )}
          {error !== null && <ErrorNotice error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onCancel}>
              {texts.common.cancel}
            </Button>
            <Button type="submit" loading={isPending}>
              {t.markAs(t.statuses[to])}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
