import { randomId, useWindowEvent } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { needsReason } from '@leads/core/lead/transitions';
import type { MemberRole } from '@leads/core/credential';
import type { Lead, LeadStatus } from '@leads/core/lead';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import {
  type Assigned,
  changeStatuses,
  invalidateCounts,
  type StatusResult,
  undoAssignment,
} from '../../api/leads.ts';
import { Actionable, showFailure } from '../../shell/failure-notice.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { isLeavingWorkspace } from '../../shell/workspace-reload.ts';
import * as texts from '../../texts/index.ts';
import { commonStatuses, findTransitionsOf, statusOf } from '../../leads/lead-status.ts';
import { refreshListed, updateListed } from './use-lead-list.ts';

const t = texts.leads;
/** How long a notification offers to undo its change, in milliseconds. */
const undoMs = 12_000;
/** Above this number of rejected leads, the lists are fetched again instead of the single leads. */
const maxRefreshed = 20;
/** Mutations of one scope run one after the other, so that quick key presses do not send concurrent changes. */
const scope = { id: 'status' };

const ReasonDialog = lazyDialog(async () => (await import('./status-dialogs.tsx')).ReasonDialog);
const FinalDialog = lazyDialog(async () => (await import('./status-dialogs.tsx')).FinalDialog);
const RefusalsDialog = lazyDialog(async () => (await import('./status-dialogs.tsx')).RefusalsDialog);

export interface Change {
  readonly leads: readonly Lead[];
  readonly to: LeadStatus;
}

/** A change that the user requested. */
interface Requested extends Change {
  readonly reason?: string;
  /** Called when the change is sent. If it has a dialog, called when the change is stored while the dialog is open. */
  readonly onSent?: (() => void) | undefined;
  /** How many requests had got no response when the user requested it. */
  readonly earlierUnanswered: number;
}

/** The result of a change whose first request the service has answered. */
interface Applied {
  readonly changed: readonly Lead[];
  /** The error of a later request, and the leads without an answer. */
  readonly failure?: { readonly error: Error; readonly leads: readonly Lead[] };
}

/** A completed change. */
interface Done {
  /** The id of its notification. */
  readonly notice: string;
  /** Undoes the change, and returns the number of leads. Absent if the role cannot undo it. */
  readonly undo: (() => Promise<number>) | undefined;
}

export interface Refusal {
  readonly id: string;
  readonly name: string;
  readonly message: string;
}

export interface StatusChanges {
  /**
   * Changes the status of leads. It first asks for a reason or a confirmation if one is needed.
   *
   * @param onSent called when the change is sent; after a question, when the change is stored, if the question is still open.
   */
  change(leads: readonly Lead[], to: LeadStatus, onSent?: () => void): void;
  /** Reports the results of an assignment, and offers to undo it. */
  assigned(leads: readonly Lead[], assigned: Assigned): void;
  /** Undoes the last change, also if it is an assignment. */
  undo(): void;
  /** The statuses that were requested and not confirmed, by the ids of the leads. */
  readonly pending: ReadonlyMap<string, LeadStatus>;
  /** Whether a dialog is open, which then handles the keys. */
  readonly isDialogOpen: boolean;
  /** The open dialogs. */
  readonly dialogs: ReactNode;
}

/** @param onChanged called after each change with the changed leads, also after a rejected one. */
export function useStatusChanges(
  role: MemberRole,
  onChanged: (changed: readonly Lead[]) => void,
): StatusChanges {
  const queryClient = useQueryClient();
  const [prompt, setPrompt] = useState<
    Change & Pick<Requested, 'onSent'> & { for: 'reason' | 'confirmation' }
  >();
  /** The leads of the open dialog. None after the page is left. */
  const prompted = useRef<readonly Lead[]>(undefined);
  useEffect(() => {
    prompted.current = prompt?.leads;
    return () => void (prompted.current = undefined);
  }, [prompt]);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  /** Only the last change can be undone, because a later change may depend on an earlier one. */
  const last = useRef<Done>(undefined);
  /** The requested statuses of leads by id, in the order of the requests. */
  const inFlight = useRef<ReadonlyMap<string, readonly LeadStatus[]>>(new Map());
  /** The statuses that the service has confirmed, and the versions of the leads that the page had. */
  const confirmed = useRef(new Map<string, { updatedAt: string; status: LeadStatus }>());
  /** The number of requests without a response. */
  const unanswered = useRef(0);
  const [pending, setPending] = useState<ReadonlyMap<string, LeadStatus>>(new Map());
  const setInFlight = (
    leads: readonly Lead[],
    change: (requested: readonly LeadStatus[]) => readonly LeadStatus[],
  ) => {
    const changed = new Map(inFlight.current);
    for (const { id } of leads) changed.set(id, change(changed.get(id) ?? []));
    for (const [id, requested] of changed) if (requested.length === 0) changed.delete(id);
    inFlight.current = changed;
    setPending(new Map([...changed].map(([id, requested]) => [id, requested.at(-1) as LeadStatus])));
  };
  // A key shows the next lead before its change is stored. The browser asks the user before it cancels such a change.
  useWindowEvent('beforeunload', (event) => {
    if (inFlight.current.size > 0 && !isLeavingWorkspace()) event.preventDefault();
  });
  const mark = ({ leads, to }: Change) => setInFlight(leads, (requested) => [...requested, to]);
  const unmark = ({ leads, to }: Change) =>
    setInFlight(leads, (requested) => requested.toSpliced(requested.indexOf(to), 1));
  /** Returns a lead with the status that it has after the earlier keys. The page shows that status some time later. */
  const expected = <Given extends Lead>(lead: Given): Given => {
    const known = confirmed.current.get(lead.id);
    const status =
      inFlight.current.get(lead.id)?.at(-1) ??
      (known !== undefined && known.updatedAt === lead.updatedAt ? known.status : statusOf(lead));
    return { ...lead, status };
  };

  /** Lists the leads that were not changed, and refreshes the pages. @returns the changed leads. */
  const report = (leads: readonly Lead[], results: readonly StatusResult[]): readonly Lead[] => {
    const outcome = new Map(results.map((result) => [result.id, result]));
    const isChanged = ({ id }: Lead) => outcome.get(id)?.success === true;
    const changed = leads.filter(isChanged);
    for (const { id } of changed) void queryClient.invalidateQueries({ queryKey: ['lead', id] });
    invalidateCounts(queryClient);
    onChanged(changed);
    const refused = leads.filter((lead) => !isChanged(lead));
    if (refused.length > 0) {
      const added = refused.map((lead) => refusalOf(lead, outcome.get(lead.id)));
      const ids = new Set(refused.map(({ id }) => id));
      // The dialog may still show the leads of an earlier change.
      setRefusals((before) => [...before.filter(({ id }) => !ids.has(id)), ...added]);
      if (refused.length > maxRefreshed) void queryClient.refetchQueries({ queryKey: ['leads', 'list'] });
      else for (const { id } of refused) void refreshListed(queryClient, id);
    }
    return changed;
  };

  /** Sends a change, in one request or more for each status of the leads. @throws ApiError if the first request fails. */
  const apply = async ({ leads, to }: Change, reason?: string): Promise<Applied> => {
    const results: StatusResult[] = [];
    let error: Error | undefined;
    try {
      for (const from of new Set(leads.map(statusOf))) {
        const ids = leads.filter((lead) => statusOf(lead) === from).map(({ id }) => id);
        // A lead that another user has changed meanwhile is not changed.
        const change = { ids, status: to, from, ...(reason !== undefined && { reason }) };
        for await (const answered of changeStatuses(change)) results.push(...answered);
      }
    } catch (thrown) {
      if (results.length === 0) throw thrown;
      error = thrown as Error;
    }
    const answered = new Set(results.map(({ id }) => id));
    const isOpen = ({ id }: Lead) => error !== undefined && !answered.has(id);
    const changed = report(
      leads.filter((lead) => !isOpen(lead)),
      results,
    );
    const ids = new Set(changed.map(({ id }) => id));
    for (const { id, updatedAt } of changed) confirmed.current.set(id, { updatedAt, status: to });
    updateListed(queryClient, (lead) => (ids.has(lead.id) ? { ...lead, status: to } : lead));
    return { changed, ...(error !== undefined && { failure: { error, leads: leads.filter(isOpen) } }) };
  };

  /** Returns a function that undoes a change. After a failure, it undoes the rest. It returns the number of all leads. */
  const undoOf = ({ leads, to }: Change) => {
    let open = leads.map((lead) => ({ back: statusOf(lead), lead: { ...lead, status: to } }));
    let count = 0;
    return async () => {
      for (let [first] = open; first !== undefined; [first] = open) {
        const { back, lead: like } = first;
        const at = statusOf(like);
        const [next] = findTransitionsOf(role, at, back) ?? [];
        const isOfStep = (each: (typeof open)[number]) => each.back === back && statusOf(each.lead) === at;
        const others = open.filter((each) => !isOfStep(each));
        if (next === undefined) {
          open = others;
          continue;
        }
        const step = { leads: open.filter(isOfStep).map(({ lead }) => lead), to: next };
        mark(step);
        const applying = apply(step, needsReason(at, next) ? t.undoReason : undefined);
        const { changed, failure } = await applying.finally(() => unmark(step));
        if (next === back) count += changed.length;
        open = [
          ...(next === back ? [] : changed.map((lead) => ({ back, lead: { ...lead, status: next } }))),
          ...(failure?.leads ?? []).map((lead) => ({ back, lead: { ...lead, status: at } })),
          ...others,
        ];
        if (failure !== undefined) throw failure.error;
      }
      return count;
    };
  };

  /** Shows the result of a change, and offers to undo it. */
  const finish = (message: string, undoDone: Done['undo']) => {
    if (last.current !== undefined) notifications.hide(last.current.notice);
    const done = { notice: randomId(), undo: undoDone };
    last.current = done;
    notifications.show({
      id: done.notice,
      autoClose: undoMs,
      message:
        undoDone === undefined ? (
          message
        ) : (
          <Actionable text={message} action={t.undo} onAction={() => undoChange(done)} />
        ),
    });
  };

  const undo = useMutation({
    scope,
    async mutationFn({ chosen, earlierUnanswered }: { chosen: Done | undefined; earlierUnanswered: number }) {
      // Like a change, it is not sent late.
      if (earlierUnanswered < unanswered.current) throw new ApiError(0, t.notSent);
      // Read when the undo starts: a change that is still in progress is the last one by then.
      const done = chosen ?? last.current;
      if (done?.undo === undefined) return 0;
      if (done === last.current) last.current = undefined;
      notifications.hide(done.notice);
      try {
        return await done.undo();
      } catch (error) {
        last.current ??= done;
        throw error;
      }
    },
    onSuccess: (count) => count > 0 && notifications.show({ message: t.undone(count) }),
    onError: (error, { chosen }) => showFailure(error, () => undoChange(chosen)),
  });
  const undoChange = (chosen: Done | undefined) =>
    undo.mutate({ chosen, earlierUnanswered: unanswered.current });

  const run = useMutation({
    scope,
    async mutationFn({ reason, earlierUnanswered, ...change }: Requested) {
      // A change that waited for an unanswered request is not sent late, when the user may be on another page.
      if (earlierUnanswered < unanswered.current) throw new ApiError(0, t.notSent);
      return apply(change, reason);
    },
    onMutate: mark,
    onSettled: (_changed, _error, requested) => unmark(requested),
    onSuccess({ changed, failure }, { earlierUnanswered: _earlier, ...requested }) {
      const { leads, to, onSent } = requested;
      if (prompted.current === leads) onSent?.();
      // Another dialog may be open by now.
      setPrompt((now) => (now?.leads === leads ? undefined : now));
      if (changed.length > 0) {
        const canUndo = changed.every((lead) => findTransitionsOf(role, to, statusOf(lead)) !== undefined);
        finish(
          t.changed(changed.length, t.statuses[to]),
          canUndo ? undoOf({ leads: changed, to }) : undefined,
        );
      }
      if (failure === undefined) return;
      countUnanswered(failure.error);
      showFailure(failure.error, () => send({ ...requested, leads: failure.leads }), {
        text: t.notChanged(failure.leads.length, failure.error.message),
      });
    },
    onError(error, { earlierUnanswered: _earlier, ...requested }) {
      countUnanswered(error);
      // An open dialog shows the error itself.
      if (prompted.current === requested.leads) return;
      showFailure(error, () => send(requested));
    },
  });
  const countUnanswered = (error: Error) => {
    if (error instanceof ApiError && error.status === 0) unanswered.current += 1;
  };
  const send = (change: Omit<Requested, 'earlierUnanswered'>) =>
    run.mutate({ ...change, earlierUnanswered: unanswered.current });

  return {
    change(given, to, onSent) {
      // A key that is pressed twice sends one change.
      const leads = given.filter(({ id }) => inFlight.current.get(id)?.at(-1) !== to).map(expected);
      if (leads.length === 0) return;
      run.reset();
      if (!commonStatuses(leads, role).includes(to)) {
        const message = leads.length === 1 ? t.notAllowed : t.notAllowedFor(t.statuses[to]);
        notifications.show({ color: 'yellow', message });
      } else if (leads.some((lead) => needsReason(statusOf(lead), to))) {
        setPrompt({ leads, to, onSent, for: 'reason' });
      } else if (leads.some((lead) => findTransitionsOf(role, to, statusOf(lead)) === undefined)) {
        setPrompt({ leads, to, onSent, for: 'confirmation' });
      } else {
        send({ leads, to });
        onSent?.();
      }
    },
    assigned(leads, { results, changeIds }) {
      const changed = report(leads, results);
      if (changed.length === 0) return;
      const undoAssigned = async () => {
        const undone = await undoAssignment(changeIds);
        const ids = new Set(undone.map(({ id }) => id));
        return report(
          changed.filter(({ id }) => ids.has(id)),
          undone,
        ).length;
      };
      // All leads had the assignee already.
      finish(t.assigned(changed.length), changeIds.length === 0 ? undefined : undoAssigned);
    },
    undo: () => undoChange(undefined),
    pending,
    isDialogOpen: prompt !== undefined || refusals.length > 0,
    dialogs: (
      <>
        {prompt?.for === 'reason' && (
          <ReasonDialog
            change={prompt}
            isPending={run.isPending}
            error={run.error}
            onClose={() => setPrompt(undefined)}
            onReason={(reason) => send({ leads: prompt.leads, to: prompt.to, onSent: prompt.onSent, reason })}
          />
        )}
        {prompt?.for === 'confirmation' && (
          <FinalDialog
            change={prompt}
            isPending={run.isPending}
            error={run.error}
            onClose={() => setPrompt(undefined)}
            onConfirm={() => send({ leads: prompt.leads, to: prompt.to, onSent: prompt.onSent })}
          />
        )}
        {refusals.length > 0 && <RefusalsDialog refusals={refusals} onClose={() => setRefusals([])} />}
      </>
    ),
  };
}

function refusalOf({ id, name }: Lead, result: StatusResult | undefined): Refusal {
  return { id, name, message: result?.message ?? texts.common.noResult };
}
