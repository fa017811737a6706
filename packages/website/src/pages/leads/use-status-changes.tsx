import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { needsReason } from '@leads/core/lead/transitions';
import type { MemberRole } from '@leads/core/credential';
import type { Lead, LeadStatus } from '@leads/core/lead';
import { type ReactNode, useRef, useState } from 'react';
import { changeStatuses, type StatusResult } from '../../api/leads.ts';
import { lazyDialog } from '../../shell/lazy-dialog.tsx';
import { texts } from '../../texts/index.ts';
import { commonStatuses, statusOf, findTransitions } from './lead-status.ts';
import { updateListed } from './use-lead-list.ts';

const t = texts.leads;
/** How long a notification offers to undo its change, in milliseconds. */
const undoMs = 12_000;
/** Mutations of one scope run one after the other, so that quick key presses do not send concurrent changes. */
const scope = { id: 'status' };

const ReasonDialog = lazyDialog(async () => (await import('./status-dialogs.tsx')).ReasonDialog);
const FinalDialog = lazyDialog(async () => (await import('./status-dialogs.tsx')).FinalDialog);
const RefusalsDialog = lazyDialog(async () => (await import('./status-dialogs.tsx')).RefusalsDialog);

export interface Change {
  readonly leads: readonly Lead[];
  readonly to: LeadStatus;
}

/** A completed change, and the id of its notification. */
interface Done extends Change {
  readonly notice: string;
  readonly canUndo: boolean;
}

export interface Refusal {
  readonly id: string;
  readonly name: string;
  readonly message: string;
}

export interface StatusChanges {
  /** Changes the status of leads. It first asks for a reason or a confirmation if one is needed. */
  change(leads: readonly Lead[], to: LeadStatus): void;
  /** Undoes the last change. */
  undo(): void;
  /** Whether a dialog is open, which then handles the keys. */
  readonly isDialogOpen: boolean;
  /** The open dialogs. */
  readonly dialogs: ReactNode;
}

export function useStatusChanges(role: MemberRole): StatusChanges {
  const queryClient = useQueryClient();
  const [prompt, setPrompt] = useState<Change & { for: 'reason' | 'confirmation' }>();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  /** Only the last change can be undone, because a later change may depend on an earlier one. */
  const last = useRef<Done>(undefined);
  /** The requested statuses of leads, by id, so that a key that is pressed twice sends one change. */
  const inFlight = useRef(new Map<string, LeadStatus>());

  /** Sends a change. @returns the changed leads. */
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
    scope,
    async mutationFn(chosen: Done | undefined) {
      // Read when the undo starts: a change that is still in progress is the last one by then.
      const done = chosen ?? last.current;
      if (done?.canUndo !== true) return 0;
      if (done === last.current) last.current = undefined;
      notifications.hide(done.notice);
      const { leads, to } = done;
      let count = 0;
      for (const from of new Set(leads.map(statusOf))) {
        let back = leads.filter((lead) => statusOf(lead) === from);
        let at = to;
        for (const next of findTransitions(to, from, role) ?? []) {
          // A lead that another user has changed meanwhile is not changed back.
          back = [
            ...(await apply({ leads: back, to: next }, needsReason(at, next) ? t.undoReason : undefined)),
          ];
          at = next;
        }
        count += back.length;
      }
      return count;
    },
    onSuccess: (count) => count > 0 && notifications.show({ message: t.undone(count) }),
    onError: (error) => notifications.show({ color: 'red', message: error.message }),
  });

  const run = useMutation({
    scope,
    mutationFn: ({ reason, ...change }: Change & { reason?: string }) => apply(change, reason),
    onMutate({ leads, to }) {
      for (const { id } of leads) inFlight.current.set(id, to);
    },
    onSettled(_changed, _error, { leads }) {
      for (const { id } of leads) inFlight.current.delete(id);
    },
    onSuccess(changed, { leads, to }) {
      // Another dialog may be open by now.
      setPrompt((now) => (now?.leads === leads ? undefined : now));
      if (changed.length === 0) return;
      const canUndo = changed.every((lead) => findTransitions(to, statusOf(lead), role) !== undefined);
      const done = { leads: changed, to, notice: `status-${to}-${Date.now()}`, canUndo };
      if (last.current !== undefined) notifications.hide(last.current.notice);
      last.current = done;
      notifications.show({
        id: done.notice,
        autoClose: undoMs,
        message: (
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm">{t.changed(changed.length, t.statuses[to])}</Text>
            {canUndo && (
              <Button size="compact-sm" variant="light" onClick={() => undo.mutate(done)}>
                {t.undo}
              </Button>
            )}
          </Group>
        ),
      });
    },
    onError(error, { leads }) {
      // An open dialog shows the error itself.
      if (prompt?.leads !== leads) notifications.show({ color: 'red', message: error.message });
    },
  });

  return {
    change(given, to) {
      const leads = given.filter(({ id }) => inFlight.current.get(id) !== to);
      if (leads.length === 0) return;
      run.reset();
      if (!commonStatuses(leads, role).includes(to)) {
        const message = leads.length === 1 ? t.notAllowed : t.notAllowedFor(t.statuses[to]);
        notifications.show({ color: 'yellow', message });
      } else if (leads.some((lead) => needsReason(statusOf(lead), to))) {
        setPrompt({ leads, to, for: 'reason' });
      } else if (leads.some((lead) => findTransitions(to, statusOf(lead), role) === undefined)) {
        setPrompt({ leads, to, for: 'confirmation' });
      } else {
        run.mutate({ leads, to });
      }
    },
    undo: () => undo.mutate(undefined),
    isDialogOpen: prompt !== undefined || refusals.length > 0,
    dialogs: (
      <>
        {prompt?.for === 'reason' && (
          <ReasonDialog
            change={prompt}
            isPending={run.isPending}
            error={run.error}
            onCancel={() => setPrompt(undefined)}
            onReason={(reason) => run.mutate({ leads: prompt.leads, to: prompt.to, reason })}
          />
        )}
        {prompt?.for === 'confirmation' && (
          <FinalDialog
            change={prompt}
            isPending={run.isPending}
            error={run.error}
            onCancel={() => setPrompt(undefined)}
            onConfirm={() => run.mutate({ leads: prompt.leads, to: prompt.to })}
          />
        )}
        {refusals.length > 0 && <RefusalsDialog refusals={refusals} onClose={() => setRefusals([])} />}
      </>
    ),
  };
}

function refusalOf({ id, name }: Lead, result: StatusResult | undefined): Refusal {
  return { id, name, message: result?.message ?? texts.common.somethingWrong };
}
