import { type Static, Type } from 'typebox';
import { singleScopes } from '../credential/principal.ts';
import { memberRoles } from '../credential/roles.ts';

/**
 * The limits of a snapshot. It holds the most recently used or created API keys. Of campaigns and landing pages, it holds
 * the newest of each workspace, then the second newest of each, and so on. With names of common length, it takes 6 MB in
 * memory, 2 MB on the broker, and about 60 ms to create.
 */
export const snapshotBounds = { keys: 10_000, campaigns: 5_000, landingPages: 20_000 } as const;

const Id = Type.String({ format: 'uuid' });

/** The data that the intake needs to accept leads without the database. It has hashes of API keys, and no leads. */
export const IntakeSnapshot = Type.Object({
  /** When it was begun, in milliseconds since the epoch. It holds all earlier changes. */
  at: Type.Integer(),
  /**
   * Whether workspaces share the limits of campaigns and landing pages. It is absent in a snapshot of the release before.
   * Once such a snapshot has reached a limit, it may lack rows of any workspace.
   */
  hasSharedBounds: Type.Optional(Type.Boolean()),
  keys: Type.Array(
    Type.Object({
      /** SHA-256 of the key, in base64. */
      hash: Type.String(),
      id: Id,
      workspaceId: Id,
      userId: Id,
      role: Type.Enum([...memberRoles]),
      scope: Type.Union([Type.Enum(['full', 'intake']), Type.Array(Type.Enum([...singleScopes]))]),
      defaultCampaignId: Type.Optional(Id),
      allowedOrigins: Type.Array(Type.String()),
      allowedNetworks: Type.Array(Type.String()),
      expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
    }),
  ),
  /** The active campaigns. */
  campaigns: Type.Array(
    Type.Object({
      id: Id,
      workspaceId: Id,
      isDefault: Type.Boolean(),
      duplicateWindowSeconds: Type.Optional(Type.Integer()),
      approveAfterSeconds: Type.Optional(Type.Integer()),
    }),
  ),
  /** The landing pages that are mapped to an active campaign. */
  landingPages: Type.Array(Type.Object({ workspaceId: Id, name: Type.String(), campaignId: Id })),
});
export type IntakeSnapshot = Static<typeof IntakeSnapshot>;

/** Reads snapshots from the database. */
export interface SnapshotSource {
  /** @throws LeadsError `unavailable` */
  readSnapshot(): Promise<IntakeSnapshot>;
}

/** Stores the latest snapshot for all instances. Its methods throw LeadsError `unavailable`. */
export interface SnapshotStore {
  readonly isConnected: boolean;
  /** Returns when the stored snapshot was begun, and its revision; `undefined` if there is none. */
  find(): Promise<{ readonly at: number; readonly revision: number } | undefined>;
  /**
   * Replaces the stored snapshot.
   *
   * @param revision of the snapshot to replace. If another instance has replaced it already, nothing changes.
   */
  put(snapshot: IntakeSnapshot, revision: number | undefined): Promise<void>;
  get(): Promise<IntakeSnapshot | undefined>;
}
