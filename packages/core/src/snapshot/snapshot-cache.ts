import { LRUCache } from 'lru-cache';
import { type SnapshotAnswer, staleMs } from '../answer-cache.ts';
import type { IntakeRoute } from '../campaign/intake-routing.ts';
import type { KnownApiKey } from '../credential/credential-store.ts';
import type { Invalidation } from '../invalidation.ts';
import { type IntakeSnapshot, type SnapshotStore, snapshotBounds } from './intake-snapshot.ts';

/** How long a snapshot is cached, and the pause before a failed read is retried, in milliseconds. */
const cachedMs = 60_000;
const retryMs = 1_000;
/** The largest expected difference between the clocks of instances, in milliseconds. */
const clockSkewMs = 5_000;

/**
 * Finds API keys and routes in the snapshot that instances share, until it is too old. It serves an instance that did
 * not cache them before the database became unavailable.
 */
export class SnapshotCache {
  readonly #store: Pick<SnapshotStore, 'get'>;
  readonly #onError: (error: unknown) => void;
  /** When each key or member changed. A snapshot may be older than the change. */
  readonly #changes = new LRUCache<string, number>({ max: 10_000, ttl: staleMs + clockSkewMs });
  #loading: Promise<Snapshot | undefined> | undefined;

  #isFailing = false;

  /** @param onError called once when a streak of failures begins. */
  constructor(store: Pick<SnapshotStore, 'get'>, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /** Finds an API key by its SHA-256. */
  async findApiKey(hash: Buffer): Promise<SnapshotAnswer<KnownApiKey> | undefined> {
    const snapshot = await this.#snapshot();
    const key = snapshot?.keys.get(hash.toString('base64'));
    if (snapshot === undefined || key === undefined) return undefined;
    const changedAt = this.#changes.get(memberOf(key)) ?? 0;
    if (changedAt >= snapshot.asOf - clockSkewMs) return undefined;
    const revokedAt = this.#changes.get(key.id);
    const found = revokedAt === undefined ? key : { ...key, revokedAt: new Date(revokedAt) };
    return { found, asOf: snapshot.asOf };
  }

  /** Finds a route, as {@link IntakeRouting.findRoutes}. */
  async findRoute(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): Promise<SnapshotAnswer<IntakeRoute> | undefined> {
    const snapshot = await this.#snapshot();
    const found = snapshot?.route(workspaceId, landingPage, keyCampaignId);
    return snapshot && found && { found, asOf: snapshot.asOf };
  }

  /** Returns the id of the workspace that has all API keys, if there is one and it is known. */
  async findOnlyWorkspace(): Promise<string | undefined> {
    return (await this.#snapshot())?.onlyWorkspaceId;
  }

  /** Records a change, so that answers of older snapshots are not served. */
  invalidate(change: Invalidation): void {
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
      snapshot = await this.#store.get();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
    }
    setTimeout(() => (this.#loading = undefined), snapshot === undefined ? retryMs : cachedMs).unref();
    return snapshot && new Snapshot(snapshot);
  }
}

/** A snapshot with its indexes. */
class Snapshot {
  readonly asOf: number;
  readonly keys: ReadonlyMap<string, KnownApiKey>;
  readonly onlyWorkspaceId: string | undefined;
  readonly #campaigns: ReadonlyMap<string, IntakeSnapshot['campaigns'][number]>;
  readonly #defaults: ReadonlyMap<string, string>;
  readonly #landingPages: ReadonlyMap<string, string>;
  readonly #mayLackCampaigns: (workspaceId: string) => boolean;
  readonly #mayLackLandingPages: (workspaceId: string) => boolean;

  constructor({ at, hasSharedBounds = false, keys, campaigns, landingPages }: IntakeSnapshot) {
    // The clock of the instance that took it may be fast.
    this.asOf = Math.min(at, Date.now());
    this.keys = new Map(
      keys.map(({ hash, expiresAt, ...key }) => [
        hash,
        { ...key, ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }) },
      ]),
    );
    const workspaceIds = new Set(keys.map(({ workspaceId }) => workspaceId));
    this.onlyWorkspaceId = workspaceIds.size === 1 ? keys[0]?.workspaceId : undefined;
    this.#campaigns = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
    this.#defaults = new Map(
      campaigns.filter(({ isDefault }) => isDefault).map(({ id, workspaceId }) => [workspaceId, id]),
    );
    this.#landingPages = new Map(
      landingPages.map(({ workspaceId, name, campaignId }) => [`${workspaceId}/${name}`, campaignId]),
    );
    this.#mayLackCampaigns = mayLackRows(campaigns, snapshotBounds.campaigns, hasSharedBounds);
    this.#mayLackLandingPages = mayLackRows(landingPages, snapshotBounds.landingPages, hasSharedBounds);
  }

  /** Returns nothing if the answer may depend on rows that did not fit into the snapshot. */
  route(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): IntakeRoute | undefined {
    const ofPage =
      landingPage === undefined ? undefined : this.#landingPages.get(`${workspaceId}/${landingPage}`);
    const isUnmapped = landingPage !== undefined && ofPage === undefined;
    if (isUnmapped && this.#mayLackLandingPages(workspaceId)) return undefined;
    const ofKey = keyCampaignId === undefined ? undefined : this.#campaigns.get(keyCampaignId);
    const isInactive = keyCampaignId !== undefined && ofKey === undefined;
    if (ofPage === undefined && isInactive && this.#mayLackCampaigns(workspaceId)) return undefined;
    const campaign = this.#campaigns.get(ofPage ?? ofKey?.id ?? this.#defaults.get(workspaceId) ?? '');
    if (campaign?.workspaceId !== workspaceId) return undefined;
    const { id: campaignId, duplicateWindowSeconds, approveAfterSeconds } = campaign;
    // An unknown page is registered by a later lead, once the database is available.
    return { campaignId, duplicateWindowSeconds, approveAfterSeconds, landingPageKnown: true };
  }
}

/**
 * Returns a predicate: whether rows of a workspace may have been left out of a snapshot.
 *
 * @param hasSharedBounds whether the snapshot was filled in turns. Each turn added one row of each workspace.
 */
function mayLackRows(
  rows: readonly { readonly workspaceId: string }[],
  bound: number,
  hasSharedBounds: boolean,
): (workspaceId: string) => boolean {
  if (rows.length < bound) return () => false;
  if (!hasSharedBounds) return () => true;
  const counts = new Map<string, number>();
  for (const { workspaceId } of rows) counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
  // The bound may have ended the last turn early. A workspace without a row in the turn before it has no further rows.
  const turns = Math.max(...counts.values());
  return (workspaceId) => (counts.get(workspaceId) ?? 0) >= turns - 1;
}

const memberOf = ({ workspaceId, userId }: { workspaceId: string; userId: string }) =>
  `${workspaceId}/${userId}`;
