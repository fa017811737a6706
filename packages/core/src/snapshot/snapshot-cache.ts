import { LRUCache } from 'lru-cache';
import { type Recalled, staleMs } from '../answer-cache.ts';
import type { IntakeRoute } from '../campaign/campaign-store.ts';
import type { KnownApiKey } from '../credential/credential-store.ts';
import type { Invalidation } from '../invalidation.ts';
import { type IntakeSnapshot, type SnapshotStore, snapshotBounds } from './intake-snapshot.ts';

/** How long a snapshot is held in memory, and how long to wait after one could not be had, in milliseconds. */
const heldMs = 60_000;
const retryMs = 1_000;
/** Clocks of instances may differ by as much, in milliseconds. */
const clockSkewMs = 5_000;

/**
 * What an instance knows while the database is away and it has not asked for it before: it is in the snapshot that
 * instances keep, for as long as that is not too old.
 */
export class SnapshotCache {
  readonly #shelf: Pick<SnapshotStore, 'get'>;
  readonly #onError: (error: unknown) => void;
  /** Of what was heard, when: a snapshot may be older. */
  readonly #changes = new LRUCache<string, number>({ max: 10_000, ttl: staleMs + clockSkewMs });
  #loading: Promise<Snapshot | undefined> | undefined;

  #isFailing = false;

  /** @param onError hears of the first failure of a row of them. */
  constructor(shelf: Pick<SnapshotStore, 'get'>, onError: (error: unknown) => void) {
    this.#shelf = shelf;
    this.#onError = onError;
  }

  /** An API key by its SHA-256. */
  async recallApiKey(hash: Buffer): Promise<Recalled<KnownApiKey> | undefined> {
    const snapshot = await this.#snapshot();
    const key = snapshot?.keys.get(hash.toString('base64'));
    if (snapshot === undefined || key === undefined) return undefined;
    const changedAt = this.#changes.get(memberOf(key)) ?? 0;
    if (changedAt >= snapshot.asOf - clockSkewMs) return undefined;
    const revokedAt = this.#changes.get(key.id);
    const found = revokedAt === undefined ? key : { ...key, revokedAt: new Date(revokedAt) };
    return { found, asOf: snapshot.asOf };
  }

  /** As {@link CampaignStore.routeIntakeLead}. */
  async recallRoute(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): Promise<Recalled<IntakeRoute> | undefined> {
    const snapshot = await this.#snapshot();
    const found = snapshot?.route(workspaceId, landingPage, keyCampaignId);
    return snapshot && found && { found, asOf: snapshot.asOf };
  }

  /** Recalls nothing that was changed after the snapshot was taken. */
  forget(change: Invalidation): void {
    if (change.kind === 'api_key') this.#changes.set(change.id, Date.now());
    if (change.kind === 'member') this.#changes.set(memberOf(change), Date.now());
  }

  async #snapshot(): Promise<Snapshot | undefined> {
    this.#loading ??= this.#load();
    const snapshot = await this.#loading;
    return snapshot !== undefined && snapshot.asOf + staleMs > Date.now() ? snapshot : undefined;
  }

  async #load(): Promise<Snapshot | undefined> {
    let snapshot: IntakeSnapshot | undefined;
    try {
      snapshot = await this.#shelf.get();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
    }
    setTimeout(() => (this.#loading = undefined), snapshot === undefined ? retryMs : heldMs).unref();
    return snapshot && new Snapshot(snapshot);
  }
}

/** A snapshot, to be looked up in. */
class Snapshot {
  readonly asOf: number;
  readonly keys: ReadonlyMap<string, KnownApiKey>;
  readonly #campaigns: ReadonlyMap<string, IntakeSnapshot['campaigns'][number]>;
  readonly #defaults: ReadonlyMap<string, string>;
  readonly #landingPages: ReadonlyMap<string, string>;

  constructor({ at, keys, campaigns, landingPages }: IntakeSnapshot) {
    // Whoever took it may have a clock that is fast.
    this.asOf = Math.min(at, Date.now());
    this.keys = new Map(
      keys.map(({ hash, expiresAt, ...key }) => [
        hash,
        { ...key, ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }) },
      ]),
    );
    this.#campaigns = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
    this.#defaults = new Map(
      campaigns.filter(({ isDefault }) => isDefault).map(({ id, workspaceId }) => [workspaceId, id]),
    );
    this.#landingPages = new Map(
      landingPages.map(({ workspaceId, name, campaignId }) => [`${workspaceId}/${name}`, campaignId]),
    );
  }

  /** Nothing where it would take what has no room in a snapshot to tell. */
  route(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): IntakeRoute | undefined {
    const ofPage =
      landingPage === undefined ? undefined : this.#landingPages.get(`${workspaceId}/${landingPage}`);
    const mayBeMapped = landingPage !== undefined && this.#landingPages.size >= snapshotBounds.landingPages;
    if (ofPage === undefined && mayBeMapped) return undefined;
    const mayBeActive = this.#campaigns.size >= snapshotBounds.campaigns;
    const ofKey = keyCampaignId === undefined ? undefined : this.#campaigns.get(keyCampaignId);
    if (ofPage === undefined && ofKey === undefined && keyCampaignId !== undefined && mayBeActive) {
      return undefined;
    }
    const campaign = this.#campaigns.get(ofPage ?? ofKey?.id ?? this.#defaults.get(workspaceId) ?? '');
    if (campaign?.workspaceId !== workspaceId) return undefined;
    const { id: campaignId, duplicateWindowSeconds } = campaign;
    // Whether it is known or not is for when the database is there: leads of it come again.
    return { campaignId, duplicateWindowSeconds, landingPageKnown: true };
  }
}

const memberOf = ({ workspaceId, userId }: { workspaceId: string; userId: string }) =>
  `${workspaceId}/${userId}`;
