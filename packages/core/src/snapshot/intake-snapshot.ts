import { type Static, Type } from 'typebox';
import { memberRoles } from '../credential/principal.ts';

/**
 * How much a snapshot holds at most: the API keys that were used or made last, and campaigns and landing pages of the
 * whole. With names of common length that is 6 MB, 2 MB on the broker, and some 50 ms of whoever takes it.
 */
export const snapshotBounds = { keys: 10_000, campaigns: 5_000, landingPages: 20_000 } as const;

const Id = Type.String({ format: 'uuid' });

/** What the intake has to know to take leads: no API key itself, and nothing of leads. */
export const IntakeSnapshot = Type.Object({
  /** When it was begun, in milliseconds since the epoch: all that was done before is in it. */
  at: Type.Integer(),
  keys: Type.Array(
    Type.Object({
      /** SHA-256 of the key, in base64. */
      hash: Type.String(),
      id: Id,
      workspaceId: Id,
      userId: Id,
      role: Type.Enum([...memberRoles]),
      scope: Type.Enum(['full', 'intake']),
      defaultCampaignId: Type.Optional(Id),
      allowedOrigins: Type.Array(Type.String()),
      expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
    }),
  ),
  /** The active ones. */
  campaigns: Type.Array(
    Type.Object({
      id: Id,
      workspaceId: Id,
      isDefault: Type.Boolean(),
      duplicateWindowSeconds: Type.Optional(Type.Integer()),
    }),
  ),
  /** Those that are mapped to an active campaign. */
  landingPages: Type.Array(Type.Object({ workspaceId: Id, name: Type.String(), campaignId: Id })),
});
export type IntakeSnapshot = Static<typeof IntakeSnapshot>;

/** Where snapshots are taken from. */
export interface SnapshotSource {
  /** @throws LeadsError `unavailable` */
  readSnapshot(): Promise<IntakeSnapshot>;
}

/** Where the latest snapshot lies for all instances. All of it throws LeadsError `unavailable`. */
export interface SnapshotStore {
  readonly isConnected: boolean;
  /** When the snapshot that lies there was begun; `undefined` where there is none. */
  find(): Promise<{ readonly at: number; readonly revision: number } | undefined>;
  /**
   * Puts a snapshot in the place of another.
   *
   * @param revision of that other. Where somebody else has put one there meanwhile, that one stays.
   */
  put(snapshot: IntakeSnapshot, revision: number | undefined): Promise<void>;
  get(): Promise<IntakeSnapshot | undefined>;
}
