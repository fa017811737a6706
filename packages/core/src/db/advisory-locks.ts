/**
 * The numbers of all advisory locks. Each must stay the same in every process and every release. The locks of
 * `duplicates.ts` have no number: they are 64-bit hashes of a campaign and a phone number.
 */
export const advisoryLocks = {
  /** Allows one `leads migrate` at a time. */
  migrate: 7_262_001,
  /** Allows one change of members at a time. */
  members: 7_262_002,
  /** Allows one `leads db grant` at a time. */
  grant: 7_262_003,
  /** Allows one retention run at a time. */
  retention: 1_618_033_988,
  /** Allows one publisher of outbox events at a time. */
  outbox: 2_718_281_828,
  /** Allows one aggregation of lead counts at a time. */
  leadCounts: 4_815_162_342,
  /** Allows one approval of due leads at a time. */
  holdTimers: 6_626_070_150,
  /** Allows one removal of assignees who left their workspace at a time. */
  unassignment: 5_772_156_649,
  /** The first of the numbers that allow some inserts with many phone numbers at a time, one number for each insert. */
  largeInserts: 6_022_140_760,
  /** Allows one `prisma migrate deploy` at a time. Prisma chose this number. */
  prismaMigrate: 72_707_369,
} as const;
