/*
 * What each service may do with each table, and nothing else: everything its stores do, and no more. A table that is new
 * is decided on here, if only to give nobody a right.
 */

/** All columns, or those named. */
type Columns = 'all' | readonly string[];

export interface TableRights {
  readonly select?: Columns;
  readonly insert?: Columns;
  readonly update?: Columns;
  readonly delete?: true;
}

/** Each has a role of its own. */
export type Service = 'crm' | 'intake';

const read = { select: 'all' } as const;
const add = { ...read, insert: 'all' } as const;
const change = { ...add, update: 'all' } as const;
const everything = { ...change, delete: true } as const;

/** When and from where a credential was used last. */
const lastUse = ['last_used_at', 'last_used_from'];

/** By table. */
export const tableRights: Readonly<Record<string, Readonly<Partial<Record<Service, TableRights>>>>> = {
  // Whether the database has what this release needs.
  _prisma_migrations: { crm: read, intake: read },
  workspace: { crm: change },
  user: { crm: change },
  member: { crm: everything, intake: { select: ['id', 'workspace_id', 'user_id', 'role'] } },
  session: { crm: everything },
  account: { crm: everything },
  verification: { crm: everything },
  two_factor: { crm: everything },
  invitation: { crm: everything },
  attempt: { crm: everything },
  campaign: {
    crm: change,
    // Not the secret of its integration page.
    intake: {
      select: ['id', 'workspace_id', 'status', 'is_default', 'duplicate_window_seconds', 'updated_at'],
    },
  },
  landing_page: {
    crm: change,
    intake: { select: ['id', 'workspace_id', 'name', 'campaign_id', 'updated_at'], insert: 'all' },
  },
  // Nobody changes what a credential is: it is revoked, and the next one is made.
  api_key: {
    crm: { ...add, update: ['revoked_at', ...lastUse] },
    intake: {
      select: [
        'id',
        'workspace_id',
        'user_id',
        'name',
        'hash',
        'prefix',
        'scope',
        'default_campaign_id',
        'allowed_origins',
        'replaces_id',
        'created_at',
        'expires_at',
        'revoked_at',
        ...lastUse,
      ],
      update: lastUse,
    },
  },
  access_token: { crm: { ...add, update: ['revoked_at', ...lastUse] } },
  // The intake is told which of the leads that it sent were there already: their ids, and nothing else of any lead.
  lead: { crm: change, intake: { select: ['id'], insert: 'all' } },
  lead_change: { crm: add },
  lead_of_workspace: { crm: read },
  lead_tally: { crm: change },
  // Erasing is the owner's.
  lead_tally_erased: { crm: read },
  erasure: {},
  // What is counted and what is to be told is written by triggers, with the rights of who owns the tables.
  lead_tally_entry: { crm: { ...read, delete: true } },
  lead_outbox: { crm: { ...read, update: 'all', delete: true } },
  // Read and emptied on the command line, whose role is the owner's.
  lead_quarantine: { intake: { select: ['id', 'reason'], insert: 'all', update: ['reason'] } },
};

/** By function that works with the rights of who owns the tables, and that is no trigger's: who may call it. */
export const functionRights: Readonly<Record<string, readonly Service[]>> = {
  first_leads_of_phones: ['crm', 'intake'],
  leads_of_outbox: ['crm'],
  changes_of_outbox: ['crm'],
};

/** A condition that rows meet, in SQL, and what may then be done with them. */
export interface RowRight {
  readonly to: 'all' | 'select' | 'insert';
  readonly rows: string;
}

/** Of the workspace that a statement is for; of all where it is for none, such as what finds out a workspace by a token. */
const ofWorkspaceSaid = '(SELECT acting_workspace()) IS NULL OR workspace_id = (SELECT acting_workspace())';

/**
 * By table under row-level security: which rows of those that it has a right to a service sees and makes. Where nothing is
 * said, none. Whoever owns the tables sees all.
 */
export const rowRights: Readonly<Record<string, Readonly<Partial<Record<Service, readonly RowRight[]>>>>> = {
  lead: {
    crm: [{ to: 'all', rows: 'workspace_id = acting_workspace()' }],
    // Of many workspaces at once; that it reads no more than ids is a matter of its rights.
    intake: [
      { to: 'select', rows: 'true' },
      { to: 'insert', rows: 'true' },
    ],
  },
  lead_change: {
    // Those of the leads that it sees.
    crm: [{ to: 'all', rows: 'EXISTS (SELECT FROM lead WHERE lead.id = lead_change.lead_id)' }],
  },
  campaign: {
    crm: [{ to: 'all', rows: ofWorkspaceSaid }],
    intake: [{ to: 'select', rows: 'true' }],
  },
  landing_page: {
    crm: [{ to: 'all', rows: ofWorkspaceSaid }],
    intake: [
      { to: 'select', rows: 'true' },
      { to: 'insert', rows: 'true' },
    ],
  },
  // Those of all workspaces are added up at once.
  lead_tally: { crm: [{ to: 'all', rows: ofWorkspaceSaid }] },
  lead_tally_entry: { crm: [{ to: 'all', rows: ofWorkspaceSaid }] },
  lead_tally_erased: { crm: [{ to: 'all', rows: ofWorkspaceSaid }] },
};
