import {
  createCampaignStore,
  createLandingPageStore,
  createLeadStore,
  createWorkspaceStore,
  openDatabase,
} from '@leads/core/db';
import type { LeadStatus, LeadToInsert, StoredLead } from '@leads/core/lead';
import type { Payout } from '@leads/core/payout';

const days = 30;
const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;

/** The number of leads for each hour of a day, relative to the busiest hour. */
const rhythm = [
  2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 13, 12, 11, 11, 12, 12, 11, 11, 13, 14, 13, 10, 6, 3,
] as const;

const names = {
  first: [
    'Ada',
    'Grace',
    'Alan',
    'Barbara',
    'Radia',
    'Donald',
    'Edith',
    'Frances',
    'Hedy',
    'John',
    'Katherine',
  ],
  last: [
    'Allen',
    'Clarke',
    'Hamilton',
    'Hopper',
    'Johnson',
    'Knuth',
    'Lamarr',
    'Liskov',
    'Lovelace',
    'Shannon',
  ],
} as const;

/** Cities with phone numbers that are reserved for films and examples. */
const places = [
  { country: 'GB', city: 'London', phone: (n: number) => `+44 20 7946 0${digits(n, 3)}` },
  { country: 'GB', city: 'Manchester', phone: (n: number) => `+44 161 496 0${digits(n, 3)}` },
  { country: 'US', city: 'Washington', phone: (n: number) => `+1 202 555 01${digits(n % 100, 2)}` },
  {
    country: 'FR',
    city: 'Paris',
    phone: (n: number) => `+33 1 99 00 ${digits(n, 4).replace(/(..)/, '$1 ')}`,
  },
] as const;

interface DemoCampaign {
  readonly code: string;
  readonly name: string;
  readonly duplicateWindowSeconds?: number;
  readonly payout?: Payout;
}

/** A campaign that detects duplicates within a week. */
const solar = {
  code: 'SOLAR',
  name: 'Solar panels',
  duplicateWindowSeconds: 7 * 24 * 3600,
  payout: { amount: '32.5', currency: 'EUR' },
} as const satisfies DemoCampaign;
const campaigns: readonly DemoCampaign[] = [
  { code: 'DEMO', name: 'Demo campaign' },
  solar,
  { code: 'INSURE', name: 'Car insurance', payout: { amount: '18', currency: 'USD' } },
];

/**
 * Landing pages with the probability that a lead arrives by each. The last one is not mapped to a campaign.
 */
const landingPages = [
  { name: 'spring-offer', campaign: 'DEMO', share: 0.35 },
  { name: 'solar-quiz', campaign: 'SOLAR', share: 0.3 },
  { name: 'insurance-check', campaign: 'INSURE', share: 0.2 },
  { name: 'newsletter-october', campaign: undefined, share: 0.15 },
] as const;

const subIds = [
  'search-brand',
  'search-generic',
  'social-video',
  'partner-42',
  undefined,
  undefined,
] as const;

/**
 * Fills a workspace with a month of leads up to `now`, some with payouts. The leads depend on `now` only.
 *
 * @param slug of a workspace that has an owner and a campaign `DEMO`.
 */
export async function addDemoLeads(databaseUrl: string, slug: string, now: Date): Promise<void> {
  await using database = openDatabase({
    url: databaseUrl,
    poolSize: 2,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 30_000,
    applicationName: 'leads-demo',
  });
  const campaignStore = createCampaignStore(database);
  const landingPageStore = createLandingPageStore(database);
  const workspaceStore = createWorkspaceStore(database);
  const workspace = await workspaceStore.findWorkspace(slug);
  if (workspace === undefined) throw new Error(`Workspace ${slug} does not exist`);
  const [owner] = await workspaceStore.listMembers(workspace.id);
  if (owner === undefined) throw new Error(`Workspace ${slug} has no members`);

  const ids = new Map<string | undefined, string>();
  const existingCampaigns = await campaignStore.list(workspace.id);
  for (const { code, payout, ...campaign } of campaigns) {
    const { id } =
      existingCampaigns.find((each) => each.code === code) ??
      (await campaignStore.create({ workspaceId: workspace.id, code, isDefault: false, ...campaign }));
    if (payout !== undefined) await campaignStore.update(workspace.id, id, () => ({ payout }));
    ids.set(code, id);
  }
  // The campaign for leads of unmapped landing pages.
  ids.set(undefined, existingCampaigns.find(({ isDefault }) => isDefault)?.id ?? ids.get('DEMO') ?? '');
  await landingPageStore.add(landingPages.map(({ name }) => ({ workspaceId: workspace.id, name })));
  for (const { name, campaign } of landingPages) {
    if (campaign !== undefined) await landingPageStore.map(workspace.id, { name }, ids.get(campaign));
  }

  const leads = demoLeads(now).map(
    ({ campaign, ...lead }): LeadToInsert =>
      Object.assign(lead, {
        workspaceId: workspace.id,
        userId: owner.user.id,
        campaignId: ids.get(campaign) ?? '',
        ...(campaign === solar.code && { duplicateWindowSeconds: solar.duplicateWindowSeconds }),
      }),
  );
  const store = createLeadStore(database);
  const stored = await store.insert(leads);
  let current = stored.flatMap((outcome) => (outcome.result === 'added' ? outcome.lead : []));
  for (const decide of [judged, paid]) {
    const changes = current.flatMap((lead) => decide(lead, now) ?? []);
    const done = await store.change(
      owner.workspace.id,
      changes.map(({ lead, at, from, reason }) => ({
        lead,
        change: {
          version: lead.version,
          userId: owner.user.id,
          status: { from, to: lead.status },
          reason,
          createdAt: at,
        },
      })),
    );
    current = changes.flatMap(({ lead }) => {
      const after = done.get(lead.id);
      return after === undefined ? [] : Object.assign(lead, after);
    });
  }
}

interface Change {
  readonly lead: StoredLead;
  readonly from: LeadStatus;
  readonly at: Date;
  readonly reason?: string | undefined;
}

function changed(
  lead: StoredLead,
  to: LeadStatus,
  afterMs: number,
  now: Date,
  reason?: string,
): Change | undefined {
  const at = new Date(lead.updatedAt.getTime() + afterMs);
  if (at > now) return undefined;
  return { lead: { ...lead, status: to, version: lead.version + 1 }, from: lead.status, at, reason };
}

/** Approves or trashes most leads within two days. */
function judged(lead: StoredLead, now: Date): Change | undefined {
  const draw = drawn(`${lead.id} judged`);
  if (lead.status !== 'OnHold' || draw() < 0.15) return undefined;
  const afterMs = (1 + draw() * 47) * hourMs;
  if (draw() < 0.62) return changed(lead, 'Approved', afterMs, now);
  const reasons = ['Number is not in service', 'Not interested', 'Asked not to be called'] as const;
  return changed(lead, 'Trashed', afterMs, now, reasons[Math.floor(draw() * reasons.length)]);
}

/** Pays half of the approved leads within ten days. */
function paid(lead: StoredLead, now: Date): Change | undefined {
  const draw = drawn(`${lead.id} paid`);
  if (lead.status !== 'Approved' || draw() < 0.5) return undefined;
  return changed(lead, 'Paid', (2 + draw() * 8) * dayMs, now);
}

type DemoLead = Omit<StoredLead, 'workspaceId' | 'userId' | 'campaignId'> & {
  readonly campaign: (typeof landingPages)[number]['campaign'];
};

/** Returns the leads of the last {@link days} days, oldest first. */
export function demoLeads(now: Date): DemoLead[] {
  const draw = drawn('leads');
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  const busiest = Math.max(...rhythm);
  const leads: DemoLead[] = [];
  for (let back = days - 1; back >= 0; back--) {
    const day = today - back * dayMs;
    const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
    for (const [hour, share] of rhythm.entries()) {
      // At most two leads an hour.
      for (let turn = 0; turn < 2; turn++) {
        const isDrawn = draw() < (share / busiest) * (isWeekend ? 0.5 : 0.9);
        const lead = demoLead(day + hour * hourMs + draw() * 60 * minuteMs, leads);
        if (isDrawn && lead.createdAt < now) leads.push(lead);
      }
    }
  }
  return leads.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
}

/** Creates a lead for a time. 6% of the leads repeat the name and phone number of a recent lead. */
function demoLead(timeMs: number, earlier: readonly DemoLead[]): DemoLead {
  const createdAt = new Date(Math.floor(timeMs));
  const draw = drawn(`lead ${createdAt.toISOString()}`);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(draw() * items.length)] as Item;
  const page = shared(landingPages, draw());
  const place = pick(places);
  const again = draw() < 0.06 ? earlier.at(-1 - Math.floor(draw() * 40)) : undefined;
  const phone = again?.phone ?? place.phone(Math.floor(draw() * 1000));
  return {
    id: idOf(createdAt, draw),
    campaign: page.campaign,
    source: 'intake',
    status: 'OnHold',
    version: 1,
    name: again?.name ?? `${pick(names.first)} ${pick(names.last)}`,
    phone,
    phoneE164: phone.replaceAll(' ', ''),
    country: again?.country ?? place.country,
    city: again?.city ?? place.city,
    // Reserved for documentation (RFC 5737).
    ip: `203.0.113.${Math.floor(draw() * 256)}`,
    s1: pick(subIds),
    lpName: page.name,
    createdAt,
    updatedAt: createdAt,
  };
}

function shared<Item extends { readonly share: number }>(items: readonly Item[], drawnShare: number): Item {
  let left = drawnShare;
  return items.find(({ share }) => (left -= share) < 0) ?? (items[0] as Item);
}

/** Returns a UUIDv7, as the services create, but the same for the same draws. */
function idOf(createdAt: Date, draw: () => number): string {
  const hex = (length: number) =>
    Math.floor(draw() * 16 ** length)
      .toString(16)
      .padStart(length, '0');
  const time = createdAt.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(12)}`;
}

function digits(n: number, length: number): string {
  return String(n).padStart(length, '0');
}

/**
 * Returns a pseudorandom generator of numbers in [0, 1), the same for the same seed (mulberry32, seeded by
 * FNV-1a).
 */
function drawn(seed: string): () => number {
  let state = 0x811c9dc5;
  for (const character of seed) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
