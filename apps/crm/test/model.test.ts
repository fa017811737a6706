import { isDeepStrictEqual } from 'node:util';
import type { Lead, LeadDetail, LeadHistoryEntry, LeadStatus } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import type { Answer } from '@leads/test-kit/http-client';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type LeadsApi, type Outcome, ok, type Page, startTwoCrms } from './leads-api.ts';

/** The number of runs. Each run uses its own workspace. */
const runs = Number(process.env['MODEL_RUNS'] ?? 20);

const crms = await startTwoCrms();
afterAll(() => crms[Symbol.asyncDispose]());
const { apis, fixture } = crms;

const statuses: readonly LeadStatus[] = ['OnHold', 'Trashed', 'Paid', 'Approved'];
/** The legal status transitions. */
const legal: Readonly<Record<LeadStatus, readonly LeadStatus[]>> = {
  OnHold: ['Approved', 'Trashed'],
  Approved: ['Paid', 'OnHold', 'Trashed'],
  Trashed: ['OnHold'],
  Paid: ['Approved'],
};
const phones = ['+44 20 7946 0958', '020 7946 0111', '+1 202 555 0143', 'ask'];
const e164: Readonly<Record<string, string>> = {
  '+44 20 7946 0958': '+442079460958',
  '+1 202 555 0143': '+12025550143',
};
const campaignCodes = ['DEMO', 'OTHER'];
const textFields = ['name', 'phone', 'city', 'address'] as const;
type Fields = Partial<Record<(typeof textFields)[number], string>>;

/** The expected state of a lead. */
interface ModelLead {
  readonly userId: string;
  readonly campaignCode: string;
  status: LeadStatus;
  version: number;
  fields: Fields;
  extra: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
  history: LeadHistoryEntry[];
}

/** The part of one version of a lead that a list shows. */
type State = Pick<ModelLead, 'status' | 'campaignCode' | 'fields' | 'updatedAt'>;
const stateOf = ({ status: at, campaignCode, fields, updatedAt }: ModelLead): State => ({
  status: at,
  campaignCode,
  fields: { ...fields },
  updatedAt,
});
/** The leads that existed before a step, each with its states during the step, in order. */
type StatesById = ReadonlyMap<string, State[]>;

/** The query of a walk, and the same filter as a function. */
interface Filter {
  readonly query: Readonly<Record<string, string>>;
  readonly matches: (lead: State) => boolean;
}
const filters: readonly Filter[] = [
  { query: {}, matches: () => true },
  ...statuses.map((at) => ({ query: { status: at }, matches: (lead: State) => lead.status === at })),
  { query: { campaignCode: 'OTHER' }, matches: (lead) => lead.campaignCode === 'OTHER' },
  { query: { q: 'ada' }, matches: ({ fields }) => fields.name?.startsWith('Ada') === true },
  {
    query: { q: 'mull zoe', status: 'OnHold' },
    matches: (lead) => lead.fields.name === 'Zoë Müller' && lead.status === 'OnHold',
  },
  { query: { phone: '0044 20 7946 0958' }, matches: ({ fields }) => fields.phone === phones[0] },
  {
    query: { phone: '+44 20 7946 0111', campaignCode: 'DEMO' },
    matches: (lead) => lead.fields.phone === phones[1] && lead.campaignCode === 'DEMO',
  },
];

type Client = 0 | 1 | 2 | 3;
interface Base {
  readonly client: Client;
  readonly instance: 0 | 1;
}
/** An operation names a lead by its index among the existing leads, modulo their number. */
type Operation = Base &
  (
    | { readonly kind: 'create'; readonly fields: Fields; readonly campaign: 0 | 1 }
    | {
        readonly kind: 'edit';
        readonly lead: number;
        readonly fields: Fields;
        readonly mark: number | undefined;
        readonly status: LeadStatus | undefined;
        readonly reason: string | undefined;
        readonly ifMatch: 'now' | 'before' | undefined;
      }
    | {
        readonly kind: 'bulk';
        readonly leads: readonly number[];
        readonly status: LeadStatus;
        readonly reason: string | undefined;
      }
  );
type Change = Exclude<Operation, { kind: 'create' }>;
interface Walk extends Base {
  readonly filter: Filter;
  readonly sort: '-createdAt' | 'createdAt' | '-updatedAt' | 'updatedAt';
  readonly limit: number;
}
/** The pages of a walk forward, and of the walk back from the last page, both in the order of the list. */
interface WalkResult {
  readonly walk: Walk;
  readonly forward: readonly Page[];
  readonly back: readonly Page[];
}
/** Concurrent operations, followed by a walk. */
interface Step {
  readonly operations: readonly Operation[];
  /** Walks concurrent with the operations. If there are any, each client sends its operations one after the other. */
  readonly concurrentWalks: readonly Walk[];
  readonly walk: Walk | undefined;
}

const base = {
  client: fc.constantFrom<Client>(0, 0, 1, 2, 3),
  instance: fc.constantFrom<0 | 1>(0, 1),
};
const status = fc.constantFrom(...statuses);
const reason = fc.constantFrom(undefined, 'because', 'because');
const name = fc.constantFrom('Ada Lovelace', 'Zoë Müller', "Pat O'Brien", 'Ada Byron');
const phone = fc.constantFrom(...phones);
const place = fc.nat({ max: 30 });
const create: fc.Arbitrary<Operation> = fc.record({
  ...base,
  kind: fc.constant('create' as const),
  campaign: fc.constantFrom<0 | 1>(0, 1),
  fields: fc.record(
    { name, phone, city: fc.constantFrom('Paris', 'London') },
    { requiredKeys: ['name', 'phone'] },
  ),
});
const edit: fc.Arbitrary<Operation> = fc
  .record({
    ...base,
    kind: fc.constant('edit' as const),
    lead: place,
    fields: fc.record(
      { name, phone, city: fc.constantFrom('Paris', 'Rome', ''), address: fc.constantFrom('a', 'b', '') },
      { requiredKeys: [] },
    ),
    mark: fc.constantFrom(undefined, 1, 2),
    status: fc.option(status, { nil: undefined }),
    reason,
    ifMatch: fc.constantFrom(undefined, undefined, 'now' as const, 'before' as const),
  })
  // Empty edits and reasons without a status are rejected, which other tests cover.
  .map((each) =>
    Object.assign(each, {
      fields:
        Object.keys(each.fields).length === 0 && each.status === undefined ? { city: 'Oslo' } : each.fields,
      reason: each.status === undefined ? undefined : each.reason,
    }),
  );
const bulk: fc.Arbitrary<Operation> = fc.record({
  ...base,
  kind: fc.constant('bulk' as const),
  leads: fc.uniqueArray(place, { minLength: 1, maxLength: 12 }),
  status,
  reason,
});
const operation = fc.oneof(
  { arbitrary: create, weight: 3 },
  { arbitrary: edit, weight: 5 },
  { arbitrary: bulk, weight: 3 },
);
const walk: fc.Arbitrary<Walk> = fc.record({
  ...base,
  filter: fc.constantFrom(...filters),
  sort: fc.constantFrom('-createdAt', 'createdAt', '-updatedAt', 'updatedAt'),
  limit: fc.integer({ min: 1, max: 6 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      operations: fc.oneof(
        operation.map((each) => [each]),
        fc.array(operation, { minLength: 2, maxLength: 6 }),
        // Two changes of the same lead through different instances.
        fc.tuple(fc.oneof(edit, bulk), fc.oneof(edit, bulk)).map(onSameLead),
      ),
      concurrentWalks: fc.constant([]),
      walk: fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, walk),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      operations: fc.array(operation, { minLength: 4, maxLength: 16 }),
      concurrentWalks: fc.array(walk, { minLength: 1, maxLength: 3 }),
      walk: fc.constant(undefined),
    }),
    weight: 1,
  },
);

function onSameLead([first, second]: [Operation, Operation]): Operation[] {
  const lead = first.kind === 'bulk' ? first.leads[0] : first.kind === 'edit' ? first.lead : 0;
  const instance = first.instance === 0 ? 1 : 0;
  if (second.kind === 'edit') return [first, { ...second, instance, lead: lead ?? 0 }];
  if (second.kind === 'bulk') return [first, { ...second, instance, leads: [lead ?? 0] }];
  return [first];
}

const firstCreate: Operation = {
  kind: 'create',
  client: 0,
  instance: 0,
  campaign: 0,
  fields: { name: 'Ada Byron', phone: 'ask' },
};

/** Returns steps in which an owner tries every illegal transition of a lead, and makes every legal one. */
function everyTransition(): Step[] {
  const path: readonly LeadStatus[] = [
    'Approved',
    'Paid',
    'Approved',
    'OnHold',
    'Trashed',
    'OnHold',
    'Approved',
    'Trashed',
  ];
  const to = (each: LeadStatus): Step => ({
    operations: [{ kind: 'bulk', client: 0, instance: 0, leads: [0], status: each, reason: 'because' }],
    concurrentWalks: [],
    walk: undefined,
  });
  return path.flatMap((next, i) => {
    const from = path[i - 1] ?? 'OnHold';
    return [...statuses.filter((each) => !legal[from].includes(each)), next].map(to);
  });
}

/** The transitions that succeeded in all runs, and those that were rejected as illegal. */
const transitions = { made: new Set<string>(), rejected: new Set<string>() };

/** Creates a workspace and its empty model. Returns functions that run steps and compare the model with the API. */
async function startRun() {
  const workspace = await fixture.createWorkspace();
  await workspace.addCampaign('OTHER');
  const { owner } = workspace;
  const members = [owner];
  for (const role of ['manager', 'publisher', 'publisher'] as const) {
    members.push(await workspace.addMember(role));
  }
  const model = new Map<string, ModelLead>();

  const memberOf = (client: Client) => members[client] as TestMember;
  const isHidden = (member: TestMember, lead: ModelLead) =>
    member.role === 'publisher' && lead.userId !== member.userId;

  function idsOf(each: Operation): string[] {
    const places = each.kind === 'create' ? [] : each.kind === 'edit' ? [each.lead] : each.leads;
    const all = [...model.keys()];
    return [...new Set(places.map((at) => all[at % all.length] ?? ''))].filter((id) => id !== '');
  }

  async function runStep({ operations, concurrentWalks, walk: lastWalk }: Step): Promise<void> {
    const known: StatesById = new Map(Array.from(model, ([id, lead]) => [id, [stateOf(lead)]]));
    const sent = operations
      .map((each) => ({ each, ids: idsOf(each) }))
      .filter(({ each, ids }) => each.kind === 'create' || ids.length > 0);
    const [answers, ...walks] = await Promise.all([
      sendAll(sent, concurrentWalks.length > 0),
      ...concurrentWalks.map(walkList),
    ]);

    // The successful changes of each lead. `applyChanges` finds their order in the history.
    const changes = new Map<string, { each: Change; detail?: LeadDetail; version: number }[]>();
    const addChange = (id: string, change: { each: Change; detail?: LeadDetail; version: number }) =>
      changes.set(id, [...(changes.get(id) ?? []), change]);
    for (const { each, ids, answer } of answers) {
      if (each.kind === 'create') addCreated(each, answer);
      else if (each.kind === 'edit' && answer.status === 200) {
        const detail = ok<{ lead: LeadDetail }>(answer).lead;
        addChange(ids[0] ?? '', { each, detail, version: detail.version });
      } else if (each.kind === 'bulk' && answer.status === 200) {
        const { results } = ok<{ results: Outcome[] }>(answer);
        expect(results.map(({ id }) => id)).toEqual(ids);
        for (const { id, success, version = 0 } of results) if (success) addChange(id, { each, version });
      }
    }
    for (const [id, made] of changes) await applyChanges(id, made, known.get(id) ?? []);
    for (const { each, ids, answer } of answers) {
      if (each.kind === 'edit' && answer.status !== 200) {
        expectRejection(
          each,
          ids[0] ?? '',
          answer.status,
          answer.json<{ message: string }>().message,
          known,
          sent.length > 1,
        );
      }
      if (each.kind !== 'bulk') continue;
      if (answer.status !== 200) {
        expect([memberOf(each.client).role, answer.status]).toEqual(['publisher', 403]);
        continue;
      }
      for (const { id, success, message = '', error } of ok<{ results: Outcome[] }>(answer).results) {
        if (success) continue;
        const code = error === 'unauthorized' ? 403 : /needs a reason/.test(message) ? 400 : 409;
        expectRejection({ ...each, ifMatch: undefined }, id, code, message, known, sent.length > 1);
      }
    }
    for (const result of walks) expectConcurrentWalk(result, known);
    if (lastWalk !== undefined) expectWalk(await walkList(lastWalk));
  }

  type Sent = { readonly each: Operation; readonly ids: readonly string[] };

  /** @param inSequence whether each client waits for an answer before its next request. If false, it does not wait. */
  async function sendAll(sent: readonly Sent[], inSequence: boolean): Promise<(Sent & { answer: Answer })[]> {
    const chains = inSequence
      ? members.map((_, client) => sent.filter(({ each }) => each.client === client))
      : sent.map((one) => [one]);
    const answered = await Promise.all(
      chains.map(async (chain) => {
        const answers: (Sent & { answer: Answer })[] = [];
        for (const { each, ids } of chain) answers.push({ each, ids, answer: await send(each, ids) });
        return answers;
      }),
    );
    return answered.flat();
  }

  function send(each: Operation, ids: readonly string[]): Promise<Answer> {
    const api: LeadsApi = apis[each.instance];
    const member = memberOf(each.client);
    if (each.kind === 'create') {
      return api.create(member, { campaignCode: campaignCodes[each.campaign], ...each.fields });
    }
    if (each.kind === 'bulk') return api.changeStatuses(member, ids, each.status, each.reason);
    const [id = ''] = ids;
    const version = (model.get(id)?.version ?? 0) - (each.ifMatch === 'before' ? 1 : 0);
    const { fields, mark, status: to, reason: why } = each;
    return api.edit(
      member,
      id,
      { ...fields, mark, status: to, reason: why },
      each.ifMatch === undefined ? {} : { 'If-Match': `"${version}"` },
    );
  }

  function addCreated(each: Operation & { kind: 'create' }, answer: Answer): void {
    const { lead } = ok<{ lead: Lead }>(answer);
    const { userId } = memberOf(each.client);
    const { id, createdAt } = lead;
    model.set(id, {
      userId,
      campaignCode: campaignCodes[each.campaign] ?? '',
      status: 'OnHold',
      version: 1,
      fields: { ...each.fields },
      extra: {},
      createdAt,
      updatedAt: createdAt,
      history: [{ version: 1, type: 'created', createdAt, userId, to: 'OnHold' }],
    });
  }

  /**
   * Applies the successful changes of a lead to the model, in the order of the history. Each history entry must match
   * one change of the version before. A change without an entry must change nothing in the version of its answer.
   */
  async function applyChanges(
    id: string,
    made: { each: Change; detail?: LeadDetail; version: number }[],
    passed: State[],
  ): Promise<void> {
    const lead = model.get(id) as ModelLead;
    const history = await apis[0].history(owner, id);
    for (let version = lead.version; version <= history.length; version++) {
      const answered = made.filter((each) => each.version === version);
      const entry = history[version - 1] as LeadHistoryEntry;
      if (version > lead.version) {
        const at = answered.findIndex(({ each }) =>
          isDeepStrictEqual(entryOf(lead, each, version, entry.createdAt), entry),
        );
        expect([entry, answered, at]).not.toEqual([entry, answered, -1]);
        const [change] = answered.splice(at, 1);
        expectLegal(lead, change?.each as Change);
        lead.history.push(entry);
        expect(entry.createdAt >= lead.updatedAt).toBe(true);
        lead.version = version;
        lead.updatedAt = entry.createdAt;
        lead.status = entry.to ?? lead.status;
        replay(lead, entry.fields ?? {});
        passed.push(stateOf(lead));
        if (change?.detail !== undefined) expect(change.detail).toEqual(detailOf(id, lead));
      }
      for (const { each, detail } of answered) {
        expect(entryOf(lead, each, version, '')).toBeUndefined();
        expect(detail).toEqual(detailOf(id, lead));
      }
    }
    expect(made.every(({ version }) => version <= lead.version)).toBe(true);
    expect(history).toEqual(lead.history);
  }

  /** Returns the expected history entry of a change, or `undefined` if it changes nothing. */
  function entryOf(
    lead: ModelLead,
    each: Change,
    version: number,
    createdAt: string,
  ): LeadHistoryEntry | undefined {
    const fields: Record<string, { from?: unknown; to?: unknown }> = {};
    if (each.kind === 'edit') {
      for (const field of textFields) {
        const to = each.fields[field];
        const from = lead.fields[field];
        if (to === undefined || (to || undefined) === from) continue;
        fields[field] = { ...(from !== undefined && { from }), ...(to !== '' && { to }) };
      }
      if (each.mark !== undefined && each.mark !== lead.extra['mark']) {
        const isFirst = Object.keys(lead.extra).length === 0;
        fields['extra'] = { ...(!isFirst && { from: lead.extra }), to: { ...lead.extra, mark: each.mark } };
      }
    }
    const isEdit = Object.keys(fields).length > 0;
    if (each.status === undefined && !isEdit) return undefined;
    return {
      version,
      type: each.status === undefined ? 'updated' : 'status_changed',
      createdAt,
      userId: memberOf(each.client).userId,
      ...(each.status !== undefined && { from: lead.status, to: each.status }),
      ...(each.reason !== undefined && { reason: each.reason }),
      ...(isEdit && { fields }),
    };
  }

  /** Expects that a successful change was permitted. */
  function expectLegal(lead: ModelLead, each: Change): void {
    const member = memberOf(each.client);
    expect(isHidden(member, lead)).toBe(false);
    if (each.status === undefined) return;
    expect(legal[lead.status]).toContain(each.status);
    transitions.made.add(`${lead.status} to ${each.status}`);
    expect(member.role).not.toBe('publisher');
    if (lead.status === 'Paid') expect(member.role).toBe('owner');
    if (lead.status === 'Paid' || each.status === 'Trashed') expect(each.reason).toBeDefined();
  }

  /** Expects that a rejection was correct for at least one state of the lead during the step. */
  function expectRejection(
    each: {
      client: Client;
      status?: LeadStatus | undefined;
      reason?: string | undefined;
      ifMatch?: 'now' | 'before' | undefined;
    },
    id: string,
    code: number,
    message: string,
    known: StatesById,
    isConcurrent: boolean,
  ): void {
    const lead = model.get(id) as ModelLead;
    const member = memberOf(each.client);
    const passed = known.get(id) ?? [];
    const wasOvertaken = passed.length > 1;
    const codesAt = (from: LeadStatus): [number, string] | undefined => {
      const { status: to } = each;
      if (to === undefined) return undefined;
      if (!legal[from].includes(to)) return [409, `A lead cannot go from ${from} to ${to}`];
      if (from === 'Paid' && member.role !== 'owner') {
        return [403, `Only an owner may take a lead from ${from} to ${to}`];
      }
      const needsReason = from === 'Paid' || to === 'Trashed';
      return needsReason && each.reason === undefined ? [400, 'This change needs a reason'] : undefined;
    };
    const stale: [number, string] = [412, 'The version of the lead does not match If-Match'];
    let expected: ([number, string] | undefined)[];
    if (isHidden(member, lead)) expected = [[404, 'Not found']];
    else if (each.status !== undefined && member.role === 'publisher') {
      expected = [[403, 'This credential may not do that']];
    } else if (each.ifMatch === 'before') expected = [stale];
    else {
      expected = passed.map((state) => codesAt(state.status));
      if (isConcurrent && wasOvertaken) {
        if (each.ifMatch !== undefined) expected.push(stale);
        else if (each.status !== undefined) {
          expected.push([409, 'The lead was changed by a concurrent request']);
        }
      }
    }
    expect(expected).toContainEqual([code, message]);
    const [, illegalTransition] = /^A lead cannot go from (\w+ to \w+)$/.exec(message) ?? [];
    if (illegalTransition !== undefined) transitions.rejected.add(illegalTransition);
  }

  function detailOf(id: string, lead: ModelLead): LeadDetail {
    const { userId, campaignCode, status: at, version, fields, extra, createdAt, updatedAt } = lead;
    const number = e164[fields.phone ?? ''];
    return {
      id,
      userId,
      campaignCode,
      campaignId: expect.any(String) as string,
      status: at,
      version,
      source: 'crm',
      createdAt,
      updatedAt,
      ...(fields as { name: string; phone: string }),
      ...(number !== undefined && { phoneE164: number }),
      ...(Object.keys(extra).length > 0 && { extra }),
    };
  }

  /** Walks a list to its end and back to its beginning. */
  async function walkList(list: Walk): Promise<WalkResult> {
    const { client, instance, filter, sort, limit } = list;
    const member = memberOf(client);
    const api = apis[instance];
    const query = { ...filter.query, sort, limit: String(limit), count: 'exact' };
    const forward = [await api.list(member, query)];
    for (let next = forward[0]?.next; next !== undefined; ) {
      const page = await apis[forward.length % 2 === 0 ? 0 : 1].follow(member, next);
      forward.push(page);
      next = page.next;
    }
    const back = forward.slice(-1);
    for (let prev = back[0]?.prev; prev !== undefined; ) {
      const page = await api.follow(member, prev);
      back.unshift(page);
      prev = page.prev;
    }
    return { walk: list, forward, back };
  }

  const compareBy = (sort: Walk['sort']) => {
    const by = sort.endsWith('createdAt') ? 'createdAt' : 'updatedAt';
    const sign = sort.startsWith('-') ? -1 : 1;
    type Sorted = Pick<ModelLead, typeof by> & { id: string };
    return (one: Sorted, two: Sorted) => sign * (compare(one[by], two[by]) || compare(one.id, two.id));
  };

  /** Expects that a walk without concurrent changes returns exactly the matching leads of the model. */
  function expectWalk({ walk: list, forward, back }: WalkResult): void {
    const { client, filter, sort } = list;
    const { query, matches } = filter;
    const expected = Array.from(model, ([id, lead]) => ({ ...lead, id }))
      .filter((lead) => !isHidden(memberOf(client), lead) && matches(lead))
      .toSorted(compareBy(sort))
      .map(({ id }) => id);
    expect([query, forward[0]?.totalCount, forward[0]?.prev]).toEqual([query, expected.length, undefined]);
    for (const pages of [forward, back]) {
      expect([query, pages.flatMap(({ leads }) => leads.map(({ id }) => id))]).toEqual([query, expected]);
      for (const { leads } of pages) {
        expect(leads.map((lead) => lead.status)).toEqual(leads.map(({ id }) => model.get(id)?.status));
      }
    }
  }

  /**
   * Expects of a walk with concurrent changes: the leads are in order, so no lead with a fixed position appears twice.
   * Each lead is shown in a state that it had during the step. A lead is not missing if it existed before, always
   * matched the filter and kept its position.
   */
  function expectConcurrentWalk({ walk: list, forward, back }: WalkResult, known: StatesById): void {
    const { client, filter, sort } = list;
    const { query, matches } = filter;
    const inOrder = compareBy(sort);
    const visible = [...model].filter(([, lead]) => !isHidden(memberOf(client), lead));
    const states = new Map(visible.map(([id, lead]) => [id, known.get(id) ?? [stateOf(lead)]]));
    const throughout = [...states].filter(([id, passed]) => known.has(id) && passed.every(matches));
    const sometimes = [...states.values()].filter((passed) => passed.some(matches));
    const stayed = throughout.filter(([, passed]) => sort.endsWith('createdAt') || passed.length === 1);
    const count = forward[0]?.totalCount ?? 0;
    expect([query, count >= throughout.length, count <= sometimes.length]).toEqual([query, true, true]);
    // An empty page has no link to the previous page.
    for (const pages of back[0]?.leads.length === 0 ? [forward] : [forward, back]) {
      const shown = pages.flatMap(({ leads }) => leads);
      expect([query, sort, shown.toSorted(inOrder)]).toEqual([query, sort, shown]);
      expect(
        new Set(shown.map(({ id, updatedAt }) => `${id} ${sort.endsWith('createdAt') ? '' : updatedAt}`))
          .size,
      ).toBe(shown.length);
      for (const { id, status: at, name: called, updatedAt } of shown) {
        const could = (states.get(id) ?? []).filter(matches);
        const seen = could.map((lead) => ({
          at: lead.status,
          called: lead.fields.name,
          updatedAt: lead.updatedAt,
        }));
        expect(seen).toContainEqual({ at, called, updatedAt });
      }
      const ids = shown.map(({ id }) => id);
      expect([query, sort, ids]).toEqual([query, sort, expect.arrayContaining(stayed.map(([id]) => id))]);
    }
  }

  /** Expects that the API returns the leads and histories of the model, and that each history leads to its lead. */
  async function expectModel(): Promise<void> {
    await Promise.all(
      Array.from(model, async ([id, lead]) => {
        const [detail, history] = await Promise.all([apis[1].get(owner, id), apis[0].history(owner, id)]);
        expect(detail).toEqual(detailOf(id, lead));
        expect(history).toEqual(lead.history);
        expect(history.map(({ version }) => version)).toEqual(Array.from(history, (_, i) => i + 1));
        const last = history.findLast(({ to }) => to !== undefined);
        expect([detail.status, detail.version]).toEqual([last?.to, history.length]);
        // Reads the history backward: each entry must match the current values and gives the previous ones.
        const fields: Record<string, unknown> = { ...detail };
        for (const entry of history.toReversed()) {
          for (const [field, { from, to }] of Object.entries(entry.fields ?? {})) {
            expect(fields[field]).toEqual(to);
            fields[field] = from;
          }
        }
      }),
    );
  }

  return { runStep, expectModel };
}

function replay(lead: ModelLead, fields: Readonly<Record<string, { to?: unknown }>>): void {
  for (const [field, { to }] of Object.entries(fields)) {
    if (field === 'extra') lead.extra = to as Record<string, unknown>;
    else if (to === undefined) delete lead.fields[field as keyof Fields];
    else lead.fields[field as keyof Fields] = to as string;
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

test('concurrent clients of 2 instances leave the leads and histories that the model expects', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(create, { minLength: 2, maxLength: 10 }),
      fc.array(step, { minLength: 3, maxLength: 25 }),
      async (creates, steps) => {
        const run = await startRun();
        await run.runStep({ operations: creates, concurrentWalks: [], walk: undefined });
        for (const each of steps) await run.runStep(each);
        await run.expectModel();
      },
    ),
    { numRuns: runs, examples: [[[firstCreate], everyTransition()]], endOnFailure: true },
  );
  const pairs = statuses.flatMap((from) => statuses.map((to) => ({ from, to })));
  const pairsThatAre = (isLegal: boolean) =>
    pairs
      .filter(({ from, to }) => legal[from].includes(to) === isLegal)
      .map(({ from, to }) => `${from} to ${to}`);
  expect([...transitions.made].toSorted()).toEqual(pairsThatAre(true).toSorted());
  expect([...transitions.rejected].toSorted()).toEqual(pairsThatAre(false).toSorted());
}, 3_700_000);
