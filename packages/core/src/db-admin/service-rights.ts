/*
 * The rights of each service on each table: exactly those that its stores need. Every new table must have an entry here,
 * even if no service has a right on it.
 */

/** All columns, or the named columns. */
type Columns = 'all' | readonly string[];

export interface TableRights {
  readonly select?: Columns;
  readonly insert?: Columns;
  readonly update?: Columns;
  readonly delete?: true;
}

/** A service. Each has its own role. */
export type Service = 'crm' | 'intake';

const read = { select: 'all' } as const;
const add = { ...read, insert: 'all' } as const;
const change = { ...add, update: 'all' } as const;
const everything = { ...change, delete: true } as const;

/** The columns that record the last use of a credential. */
const lastUse = ['last_used_at', 'last_used_from'];

/** The rights of each service, by table. */
export const tableRights: Readonly<Record<string, Readonly<Partial<Record<Service, TableRights>>>>> = {
  // The services check that the newest migration of the release is applied.
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
    // Excludes the secret of the integration page.
    intake: {
      select: [
        'id',
        'workspace_id',
        'status',
        'is_default',
        'duplicate_window_seconds',
        'approve_after_seconds',
        'updated_at',
      ],
    },
  },
  publisher_payout: { crm: everything },
  payment: { crm: change },
  payment_lead: { crm: change },
  landing_page: {
    crm: change,
    intake: {
      select: [
        'id',
        'workspace_id',
        'name',
        'campaign_id',
        'created_at',
        'updated_at',
        'registered_by',
        'pending_since',
        'dismissed_at',
      ],
      insert: 'all',
    },
  },
  // A credential cannot be changed, only revoked and replaced.
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
        'scopes',
        'default_campaign_id',
        'allowed_origins',
        'allowed_networks',
        'replaces_id',
        'created_at',
        'expires_at',
        'revoked_at',
        ...lastUse,
      ],
      update: lastUse,
    },
  },
  // A function adds to the request log. The CRM reads it and deletes expired rows.
  api_request: { crm: { ...read, delete: true } },
  api_usage: { crm: { ...read, delete: true } },
  access_token: { crm: { ...add, update: ['revoked_at', ...lastUse] } },
  // The intake reads which of its leads already existed. It can read their ids, and no other column.
  lead: { crm: change, intake: { select: ['id'], insert: 'all' } },
  lead_change: { crm: add },
  status_alias: { crm: { ...add, delete: true } },
  saved_view: { crm: everything },
  lead_note: { crm: add },
  lead_viewer: { crm: everything },
  lead_job: { crm: everything },
  lead_of_workspace: { crm: read },
  lead_tally: { crm: change },
  // Only the owner of the tables erases leads.
  lead_tally_erased: { crm: read },
  erasure: {},
  // Triggers write lead counts and events, with the rights of the tables' owner.
  lead_tally_entry: { crm: { ...read, delete: true } },
  payout_tally: { crm: change },
  payout_tally_entry: { crm: { ...read, delete: true } },
  lead_outbox: { crm: { ...read, update: 'all', delete: true } },
  // A trigger writes it, and the function plan_deliveries empties it, with the rights of the tables' owner.
  delivery_outbox: { crm: read },
  delivery_endpoint: { crm: everything },
  delivery: { crm: everything },
  delivery_notice: { crm: everything },
  // Functions write the log. The CRM deletes its expired rows.
  lead_event_log: { crm: { ...read, delete: true } },
  lead_event_log_state: { crm: read },
  audit_entry: { crm: add },
  // The command line reads and empties it as the owner of the tables.
  lead_quarantine: { intake: { select: ['id', 'reason'], insert: 'all', update: ['reason'] } },
};

/** The services that may call each SECURITY DEFINER function. Trigger functions are not listed. */
export const functionRights: Readonly<Record<string, readonly Service[]>> = {
  first_leads_of_phones: ['crm', 'intake'],
  differing_leads: ['crm', 'intake'],
  earlier_leads: ['crm', 'intake'],
  leads_of_outbox: ['crm'],
  changes_of_outbox: ['crm'],
  plan_deliveries: ['crm'],
  log_events: ['crm'],
  return_logged_events: ['crm'],
  log_requests: ['crm', 'intake'],
  unassign_leads: ['crm'],
  take_due_leads: ['crm'],
  changes_of_bulk: ['crm'],
};

/**
 * The functions that both services run with their own rights: in statements, checks and indexes. PUBLIC may run them, unless
 * the default privileges of the database exclude it.
 */
export const sharedFunctions: readonly string[] = [
  'acting_workspace',
  'approval_of_lead',
  'approval_time',
  'changes_of_events',
  'lead_tally_name',
  'lead_tally_time',
  'payout_and_hold_are_valid',
  'payout_by_rules',
  'payout_json',
  'phone_end',
  'with_payout_change',
];

/** A right on the rows that meet a condition in SQL. */
export interface RowRight {
  readonly to: 'all' | 'select' | 'insert';
  readonly rows: string;
}

/** Limits rows to the acting workspace; all rows if none is set, as when a token is looked up to find its workspace. */
const ofActingWorkspace = '(SELECT acting_workspace()) IS NULL OR workspace_id = (SELECT acting_workspace())';

/**
 * The rows that each service can read and write, by table under row-level security. Without an entry, a service has access
 * to no row. The owner of the tables has access to all rows.
 */
export const rowRights: Readonly<Record<string, Readonly<Partial<Record<Service, readonly RowRight[]>>>>> = {
  lead: {
    crm: [{ to: 'all', rows: 'workspace_id = acting_workspace()' }],
    // A batch of the intake holds leads of several workspaces. Its column rights limit it to their ids.
    intake: [
      { to: 'select', rows: 'true' },
      { to: 'insert', rows: 'true' },
    ],
  },
  lead_change: {
    // The changes of the leads that it can read.
    crm: [{ to: 'all', rows: 'EXISTS (SELECT FROM lead WHERE lead.id = lead_change.lead_id)' }],
  },
  status_alias: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  lead_job: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  saved_view: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  lead_note: { crm: [{ to: 'all', rows: 'workspace_id = acting_workspace()' }] },
  lead_viewer: { crm: [{ to: 'all', rows: 'workspace_id = acting_workspace()' }] },
  campaign: {
    crm: [{ to: 'all', rows: ofActingWorkspace }],
    intake: [{ to: 'select', rows: 'true' }],
  },
  landing_page: {
    crm: [{ to: 'all', rows: ofActingWorkspace }],
    intake: [
      { to: 'select', rows: 'true' },
      { to: 'insert', rows: 'true' },
    ],
  },
  audit_entry: {
    crm: [
      { to: 'select', rows: 'workspace_id = acting_workspace()' },
      // A sign-in is recorded in all workspaces of the user.
      { to: 'insert', rows: ofActingWorkspace },
    ],
  },
  // One worker sends the deliveries of all workspaces.
  delivery_outbox: { crm: [{ to: 'select', rows: ofActingWorkspace }] },
  delivery_endpoint: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  delivery: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  delivery_notice: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  // Expired rows of all workspaces are deleted together.
  api_request: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  api_usage: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  // One aggregation reads the entries of all workspaces.
  lead_tally: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  lead_tally_entry: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  lead_tally_erased: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  payout_tally: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  payout_tally_entry: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  publisher_payout: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  // One worker changes the leads of the payments of all workspaces.
  payment: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
  payment_lead: { crm: [{ to: 'all', rows: ofActingWorkspace }] },
};
