import { StoreError } from '@leads/core/errors';
import type { ChangedLead, FoundLead, LeadAfterChange, LeadStore, StatusChangeFrom } from '@leads/core/lead';
import { charactersOf } from '../lead/lead.ts';
import { Batcher, type Batched } from './batcher.ts';

type Scope = Parameters<LeadStore['find']>[0];

interface LeadToFind {
  readonly scope: Scope;
  readonly id: string;
}

interface LeadToChange<Change> {
  readonly workspaceId: string;
  readonly id: string;
  readonly change: Change;
}

type BatchedChange<Change, Result> = Batched<LeadToChange<Change>, Result | undefined>;

/** Changes leads of several workspaces in one transaction. Returns the results of each workspace by lead id. */
type Send<Change, Result> = (
  workspaces: readonly { readonly workspaceId: string; readonly changes: readonly Change[] }[],
) => Promise<readonly ReadonlyMap<string, Result>[]>;

/**
 * Returns a lead store that combines concurrent reads and changes of single leads. Reads of one scope share a statement.
 * Changes share a commit, also those of different workspaces. Statements of several leads are not combined.
 */
export function batchLeadChanges(leads: LeadStore): LeadStore & AsyncDisposable {
  const finds = new Batcher<LeadToFind, FoundLead | undefined>({
    workspaceOf: ({ scope }) => scope.workspaceId,
    charactersOf: ({ id }) => id.length,
    async process(batch) {
      const groups = grouped(batch, ({ scope }) => `${scope.workspaceId}/${scope.userId ?? ''}`);
      await eachSettled(groups, (group) => findEach(leads, group));
    },
  });
  const changes = new Batcher<LeadToChange<ChangedLead>, LeadAfterChange | undefined>({
    workspaceOf: ({ workspaceId }) => workspaceId,
    charactersOf: ({ change: { lead, change } }) =>
      charactersOf(lead) + JSON.stringify(change.fields ?? {}).length,
    process: (batch) => changeInTurn((workspaces) => leads.changeInEach(workspaces), batch, newerVersion),
  });
  const statuses = new Batcher<LeadToChange<StatusChangeFrom>, FoundLead | undefined>({
    workspaceOf: ({ workspaceId }) => workspaceId,
    charactersOf: ({ change }) => change.reason?.length ?? 0,
    process: (batch) =>
      changeInTurn(
        (workspaces) => leads.changeStatusInEach(workspaces),
        batch,
        () => false,
      ),
  });
  return {
    ...leads,
    async find(scope, ids) {
      const [id] = ids;
      if (id === undefined || ids.length > 1) return leads.find(scope, ids);
      const found = await finds.take({ scope, id });
      return found === undefined ? [] : [found];
    },
    async change(workspaceId, all) {
      const [change] = all;
      if (change === undefined || all.length > 1) return leads.change(workspaceId, all);
      const { id } = change.lead;
      const changed = await changes.take({ workspaceId, id, change });
      return new Map(changed === undefined ? [] : [[id, changed]]);
    },
    changeStatus: (workspaceId, change) => statuses.take({ workspaceId, id: change.id, change }),
    async [Symbol.asyncDispose]() {
      await Promise.all([finds, changes, statuses].map((batcher) => batcher[Symbol.asyncDispose]()));
    },
  };
}

async function findEach(
  leads: LeadStore,
  group: readonly Batched<LeadToFind, FoundLead | undefined>[],
): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  const ids = [...new Set(group.map(({ item }) => item.id))];
  const found = await leads.find(first.item.scope, ids);
  const byId = new Map(found.map((lead) => [lead.id, lead]));
  for (const { item, resolve } of group) resolve(byId.get(item.id));
}

/** Whether a change read a newer version of the lead. */
const newerVersion = (a: ChangedLead, b: ChangedLead): boolean => a.lead.version > b.lead.version;

/**
 * Changes each lead once. Of several changes of a lead, the first is sent, unless another one precedes it. The others get
 * no result without a statement, so that many changes of one lead do not delay other leads.
 */
async function changeInTurn<Change, Result>(
  send: Send<Change, Result>,
  group: readonly BatchedChange<Change, Result>[],
  precedes: (a: Change, b: Change) => boolean,
): Promise<void> {
  let waiting = group;
  while (waiting.length > 0) {
    const next = new Map<string, BatchedChange<Change, Result>>();
    for (const each of waiting) {
      const key = leadKeyOf(each.item);
      const other = next.get(key);
      if (other === undefined || precedes(each.item.change, other.item.change)) next.set(key, each);
    }
    const accepted = await changeEach(send, [...next.values()]);
    // If the change was rejected, the next one of the lead is sent.
    for (const { item, resolve } of waiting) if (accepted.has(leadKeyOf(item))) resolve(undefined);
    waiting = waiting.filter((each) => {
      const key = leadKeyOf(each.item);
      return !accepted.has(key) && next.get(key) !== each;
    });
  }
}

/** Returns the key of a lead. The id alone does not suffice: a request may name a lead of another workspace. */
function leadKeyOf({ workspaceId, id }: LeadToChange<unknown>): string {
  return `${workspaceId}/${id}`;
}

/**
 * Changes leads in one transaction. If the store rejects a change, the leads are halved until the lead is alone.
 *
 * @returns the keys of the leads whose change was not rejected, also if it had no effect.
 */
async function changeEach<Change, Result>(
  send: Send<Change, Result>,
  group: readonly BatchedChange<Change, Result>[],
): Promise<ReadonlySet<string>> {
  const [first] = group;
  if (first === undefined) return new Set();
  try {
    const workspaces = grouped(group, ({ workspaceId }) => workspaceId);
    const changed = await send(
      workspaces.map((each) => ({
        workspaceId: each[0]?.item.workspaceId ?? '',
        changes: each.map(({ item }) => item.change),
      })),
    );
    for (const [at, each] of workspaces.entries()) {
      for (const { item, resolve } of each) resolve(changed[at]?.get(item.id));
    }
    return new Set(group.map(({ item }) => leadKeyOf(item)));
  } catch (error) {
    if (!(error instanceof StoreError && error.isRowRejected)) throw error;
    if (group.length === 1) {
      first.reject(error);
      return new Set();
    }
    const half = group.length >> 1;
    const before = await changeEach(send, group.slice(0, half));
    const after = await changeEach(send, group.slice(half));
    return new Set([...before, ...after]);
  }
}

function grouped<Item extends { readonly item: unknown }>(
  batch: readonly Item[],
  keyOf: (item: Item['item']) => string,
): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const each of batch) {
    const key = keyOf(each.item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()];
}

/** Works on the groups concurrently. An error rejects the items of its group only. */
async function eachSettled<Item extends { readonly reject: (error: unknown) => void }>(
  groups: readonly (readonly Item[])[],
  work: (group: readonly Item[]) => Promise<void>,
): Promise<void> {
  await Promise.all(
    groups.map(async (group) => {
      try {
        await work(group);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }),
  );
}
