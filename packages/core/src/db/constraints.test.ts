import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addTenant,
  createTestDatabase,
  databaseOptions,
  leadOf,
  type Tenant,
  type TestDatabase,
} from '../../test/database.ts';
import { newId } from '../uuid.ts';
import { openDatabase } from './client.ts';
import { Prisma } from './generated/client.ts';
import { createLeadStore } from './lead-store.prisma.ts';

let database: TestDatabase;
let a: Tenant;
let b: Tenant;
/** A stored lead, webhook and API key that other rows can refer to. */
let leadId: string;
let endpointId: string;
let apiKeyId: string;
let paymentId: string;

/** A valid row of every table. Each case makes it invalid in one way. */
const rows = {
  workspace: () => ({ id: newId(), name: 'Acme', slug: `s-${newId()}` }),
  user: () => ({ id: newId(), name: 'Ada', email: `${newId()}@example.io`, updated_at: 'now()' }),
  member: () => ({ id: newId(), workspace_id: a.workspaceId, user_id: b.userId, role: 'owner' }),
  campaign: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    code: newId(),
    name: 'C',
    updated_at: 'now()',
  }),
  status_alias: () => ({
    workspace_id: a.workspaceId,
    alias: newId(),
    status: 'Trashed',
    reason: 'x'.repeat(1000),
  }),
  lead_job: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    user_id: a.userId,
    action: 'status',
    filters: '{}',
    status: 'Trashed',
    reason: 'x'.repeat(1000),
  }),
  saved_view: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    user_id: a.userId,
    name: 'Open',
    filters: '{}',
    widths: '{}',
  }),
  landing_page: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    name: newId(),
    campaign_id: a.campaignId,
    updated_at: 'now()',
  }),
  api_key: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    user_id: a.userId,
    name: 'Key',
    hash: `\\x${'ab'.repeat(16)}${newId().replaceAll('-', '')}`,
    prefix: 'lk_12345678',
    default_campaign_id: a.campaignId,
    created_at: '2026-01-01T00:00:00Z',
    expires_at: '2026-01-02T00:00:00Z',
  }),
  api_request: () => ({
    api_key_id: apiKeyId,
    at: '2026-01-01T00:00:00Z',
    id: leadId,
    workspace_id: a.workspaceId,
    service: 'intake',
    method: 'POST',
    route: '/api/v1/leads',
    status: 200,
    duration_ms: 1.5,
  }),
  api_usage: () => ({
    api_key_id: apiKeyId,
    day: '2026-01-01',
    workspace_id: a.workspaceId,
    success: 1,
    client_errors: 0,
    server_errors: 0,
    unlisted: 0,
  }),
  audit_entry: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    at: 'now()',
    action: 'sign_in',
    source: 'website',
    details: '{}',
  }),
  access_token: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    user_id: a.userId,
    name: 'Token',
    created_at: '2026-01-01T00:00:00Z',
    expires_at: '2026-01-02T00:00:00Z',
  }),
  lead: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    campaign_id: a.campaignId,
    user_id: a.userId,
    source: 'intake',
    status: 'OnHold',
    name: 'Ada',
    phone: '1',
    phone_e164: '+442079460958',
    email: 'ada@example.IO',
    ip: '203.0.113.7',
    s1: 'x'.repeat(255),
    extra: '{}',
    content_hash: Buffer.alloc(32, 1),
    duplicate_of: newId(),
    words: ['ada'],
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  }),
  lead_change: () => ({
    lead_id: leadId,
    version: 2,
    user_id: a.userId,
    from_status: 'Approved',
    to_status: 'Trashed',
    reason: 'x'.repeat(1000),
    fields: '{"city": {"from": "Paris", "to": "London"}}',
    request_id: newId(),
    created_at: '2026-01-01T00:00:00Z',
  }),
  lead_note: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    lead_id: leadId,
    author_id: a.userId,
    text: 'x'.repeat(4000),
    created_at: '2026-01-01T00:00:00Z',
  }),
  lead_viewer: () => ({ lead_id: leadId, user_id: a.userId, workspace_id: a.workspaceId, seen_at: 'now()' }),
  session: () => ({
    id: newId(),
    user_id: a.userId,
    token: newId(),
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    expires_at: '2026-01-02T00:00:00Z',
  }),
  account: () => ({
    id: newId(),
    user_id: a.userId,
    issuer: 'local',
    account_id: newId(),
    provider_id: 'credential',
    updated_at: 'now()',
  }),
  verification: () => ({
    id: newId(),
    identifier: 'x',
    value: 'y',
    expires_at: 'now()',
    updated_at: 'now()',
  }),
  two_factor: () => ({ id: newId(), user_id: a.userId, secret: 'x', backup_codes: 'y' }),
  invitation: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    email: 'guest@example.com',
    role: 'manager',
    inviter_id: a.userId,
    expires_at: 'now()',
  }),
  attempt: () => ({ key: newId(), count: 1, since: 'now()' }),
  lead_tally: () => ({
    workspace_id: a.workspaceId,
    of_id: a.userId,
    kind: 'landing_page',
    at: '2026-01-01T00:00:00Z',
    value: 'spring-offer',
    on_hold: 1,
    trashed: 0,
    paid: 0,
    approved: 0,
  }),
  lead_tally_entry: () => ({
    // Differs from the id of the entry that a trigger created for the lead above.
    id: 1_000_000,
    workspace_id: a.workspaceId,
    user_id: a.userId,
    campaign_id: a.campaignId,
    at: '2026-01-01T00:00:00Z',
    status: 'OnHold',
    leads: -1,
    s1: '{click-1}',
  }),
  publisher_payout: () => ({
    campaign_id: a.campaignId,
    user_id: a.userId,
    workspace_id: a.workspaceId,
    amount: '12.5',
    currency: 'EUR',
  }),
  payment: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    number: 1,
    user_id: a.userId,
    created_by_id: a.userId,
    from_time: '2026-01-01T00:00:00Z',
    to_time: '2026-02-01T00:00:00Z',
    campaign_id: a.campaignId,
    currency: 'EUR',
    date: '2026-02-01',
    note: 'x'.repeat(1000),
    total: 3,
    leads: 2,
    amount: '25',
    skipped: 1,
    returned: 1,
    kept: 1,
  }),
  payment_lead: () => ({
    payment_id: paymentId,
    lead_id: leadId,
    workspace_id: a.workspaceId,
    amount: '12.5',
    state: 'paid',
    version: 2,
  }),
  payout_tally: () => ({
    workspace_id: a.workspaceId,
    user_id: a.userId,
    at: '2026-01-01T00:00:00Z',
    campaign_id: a.campaignId,
    status: 'Approved',
    currency: 'EUR',
    leads: 1,
    amount: '12.5',
  }),
  payout_tally_entry: () => ({
    id: 1_000_000,
    workspace_id: a.workspaceId,
    user_id: a.userId,
    at: '2026-01-01T00:00:00Z',
    campaign_id: a.campaignId,
    status: 'Approved',
    currency: 'EUR',
    leads: 1,
    amount: '12.5',
  }),
  lead_outbox: () => ({ id: 1_000_000, lead_ids: [leadId], versions: [1], created_at: 'now()' }),
  lead_event_log: () => ({
    position: 1_000_000,
    outbox_id: 1,
    workspace_ids: [a.workspaceId],
    lead_ids: [leadId],
    versions: [1],
    created_at: 'now()',
    published_at: 'now()',
  }),
  lead_event_log_state: () => ({ created_at: 'now()', last_position: 0, last_published_at: 'now()' }),
  lead_tally_erased: () => ({
    id: 1_000_000,
    workspace_id: a.workspaceId,
    user_id: a.userId,
    campaign_id: a.campaignId,
    at: '2026-01-01T00:00:00Z',
    status: 'OnHold',
    leads: 1,
    with_s1: 1,
  }),
  erasure: () => ({ id: newId(), keys: ['x'], seal: 'y', at: 'now()', found: '{}' }),
  delivery_endpoint: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    url: 'https://crm.example.com/hook',
    event_types: '{lead.created}',
    statuses: '{}',
    campaign_ids: '{}',
    secret: 'x',
  }),
  delivery_outbox: () => ({
    id: 1_000_000,
    workspace_id: a.workspaceId,
    lead_ids: [leadId],
    versions: [1],
    is_import: false,
  }),
  delivery: () => ({
    id: newId(),
    workspace_id: a.workspaceId,
    endpoint_id: endpointId,
    type: 'lead.created',
    lead_id: leadId,
    version: 1,
    state: 'waiting',
    next_attempt_at: 'now()',
  }),
  delivery_notice: () => ({ endpoint_id: endpointId, user_id: a.userId, workspace_id: a.workspaceId }),
  lead_quarantine: () => ({ id: newId(), lead: '{}', quarantined_at: 'now()' }),
} satisfies Record<string, () => Record<string, unknown>>;
type Table = keyof typeof rows;

beforeAll(async () => {
  database = await createTestDatabase();
  a = await addTenant(database, 'a');
  b = await addTenant(database, 'b');
  leadId = newId();
  await insert('lead', { id: leadId });
  endpointId = newId();
  await insert('delivery_endpoint', { id: endpointId });
  paymentId = newId();
  await insert('payment', { id: paymentId, number: 1_000, campaign_id: null });
  apiKeyId = newId();
  await insert('api_key', { id: apiKeyId, default_campaign_id: null });
});
afterAll(() => database[Symbol.asyncDispose]());

async function insert(table: Table, fields: Record<string, unknown> = {}): Promise<void> {
  const row: Record<string, unknown> = { ...rows[table](), ...fields };
  const columns = Object.keys(row);
  await database.query(
    `INSERT INTO "${table}" (${columns.map((c) => `"${c}"`).join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})`,
    columns.map((column) => row[column]),
  );
}

/** Runs `work` in a transaction and rolls it back. */
async function rolledBack(work: () => Promise<void>): Promise<void> {
  await database.query('BEGIN');
  try {
    await work();
  } finally {
    await database.query('ROLLBACK');
  }
}

async function rejection(work: () => Promise<void>): Promise<pg.DatabaseError> {
  let error: unknown;
  await rolledBack(async () => {
    try {
      await work();
    } catch (thrown) {
      error = thrown;
    }
  });
  expect(error, 'this row should be rejected').toBeDefined();
  return error as pg.DatabaseError;
}

const tablesWithId = (Object.keys(rows) as Table[]).filter(
  (table) =>
    ![
      'attempt',
      'api_request',
      'api_usage',
      'lead_change',
      'status_alias',
      'lead_tally',
      'lead_tally_entry',
      'publisher_payout',
      'payment_lead',
      'payout_tally',
      'payout_tally_entry',
      'lead_tally_erased',
      'lead_outbox',
      'delivery_outbox',
      'delivery_notice',
      'lead_event_log',
      'lead_event_log_state',
      'lead_viewer',
    ].includes(table),
);
/** The fields of a postback that a webhook does not have. */
const postback = { kind: 'postback', secret: null, method: 'GET', statuses: '{Approved}' };
const statuses = ['OnHold', 'Approved', 'Paid', 'Trashed'] as const;
/** All allowed transitions from one status to another. */
const transitions = new Set([
  'OnHold Approved',
  'OnHold Trashed',
  'Approved Paid',
  'Approved OnHold',
  'Approved Trashed',
  'Trashed OnHold',
  'Paid Approved',
]);
const noStatus = { from_status: null, to_status: null };

/** Invalid rows, each with the constraint and the SQLSTATE that reject it. */
const cases: [constraint: string, code: string, work: () => Promise<void>][] = [
  ...tablesWithId.map((table): [string, string, () => Promise<void>] => [
    `${table}_pkey`,
    '23505',
    async () => {
      const id = newId();
      await insert(table, { id });
      const others: Partial<Record<Table, object>> = {
        member: { workspace_id: b.workspaceId, user_id: a.userId },
        delivery: { version: 2 },
        payment: { number: 2 },
      };
      await insert(table, { id, ...others[table] });
    },
  ]),

  ['workspace_slug_key', '23505', () => insert('workspace', { slug: 'a' })],
  ['workspace_name_check', '23514', () => insert('workspace', { name: '' })],
  ...['', 'A', 'a b', '-a', 'a-', 'a--b', 'ä', 'a\n', 'x'.repeat(64)].map(
    (slug): [string, string, () => Promise<void>] => [
      'workspace_slug_check',
      '23514',
      () => insert('workspace', { slug }),
    ],
  ),

  ['user_email_key', '23505', () => insert('user', { email: 'a@example.io' })],
  ['user_name_check', '23514', () => insert('user', { name: '' })],
  ...['', 'x', '@x', 'x@', 'Ada@example.io'].map((email): [string, string, () => Promise<void>] => [
    'user_email_check',
    '23514',
    () => insert('user', { email }),
  ]),

  ['member_workspace_id_user_id_key', '23505', () => insert('member', { user_id: a.userId })],
  ['member_workspace_id_fkey', '23503', () => insert('member', { workspace_id: newId() })],
  ['member_user_id_fkey', '23503', () => insert('member', { user_id: newId() })],

  ['campaign_workspace_id_code_key', '23505', () => insert('campaign', { code: 'default' })],
  ['campaign_workspace_id_default_key', '23505', () => insert('campaign', { is_default: true })],
  ['campaign_workspace_id_fkey', '23503', () => insert('campaign', { workspace_id: newId() })],
  ['campaign_code_check', '23514', () => insert('campaign', { code: '' })],
  ['campaign_code_check', '23514', () => insert('campaign', { code: 'x'.repeat(256) })],
  ['campaign_name_check', '23514', () => insert('campaign', { name: '' })],
  ...['paused', 'archived'].map((status): [string, string, () => Promise<void>] => [
    'campaign_default_active_check',
    '23514',
    async () => {
      await database.query('UPDATE campaign SET status = $1 WHERE id = $2', [status, a.campaignId]);
    },
  ]),

  ['api_request_service_check', '23514', () => insert('api_request', { service: 'other' })],
  ['api_request_api_key_id_fkey', '23503', () => insert('api_request', { api_key_id: newId() })],
  ['api_usage_api_key_id_fkey', '23503', () => insert('api_usage', { api_key_id: newId() })],
  ['audit_entry_source_check', '23514', () => insert('audit_entry', { source: 'other' })],
  ['audit_entry_details_check', '23514', () => insert('audit_entry', { details: '[]' })],

  [
    'landing_page_workspace_id_name_key',
    '23505',
    async () => {
      await insert('landing_page', { name: 'same' });
      await insert('landing_page', { name: 'same' });
    },
  ],
  [
    'status_alias_pkey',
    '23505',
    async () => {
      await insert('status_alias', { alias: 'same' });
      await insert('status_alias', { alias: 'same' });
    },
  ],
  ...['', ' x', 'x'.repeat(257)].map((alias): [string, string, () => Promise<void>] => [
    'status_alias_alias_check',
    '23514',
    () => insert('status_alias', { alias }),
  ]),
  ['status_alias_reason_check', '23514', () => insert('status_alias', { reason: '' })],
  ['status_alias_workspace_id_fkey', '23503', () => insert('status_alias', { workspace_id: newId() })],
  ['lead_job_action_check', '23514', () => insert('lead_job', { action: 'delete' })],
  ['lead_job_action_check', '23514', () => insert('lead_job', { status: null })],
  ['lead_job_action_check', '23514', () => insert('lead_job', { action: 'assign' })],
  ['lead_job_state_check', '23514', () => insert('lead_job', { state: 'done' })],
  ['lead_job_state_check', '23514', () => insert('lead_job', { finished_at: 'now()' })],
  ['lead_job_state_check', '23514', () => insert('lead_job', { undoes: newId() })],
  ['lead_job_state_check', '23514', () => insert('lead_job', { state: 'undoing' })],
  ['lead_job_filters_check', '23514', () => insert('lead_job', { filters: '[]' })],
  ['lead_job_refusals_check', '23514', () => insert('lead_job', { refusals: '{}' })],
  ['lead_job_workspace_id_fkey', '23503', () => insert('lead_job', { workspace_id: newId() })],
  ['lead_job_reason_check', '23514', () => insert('lead_job', { reason: '' })],
  ['lead_job_user_id_fkey', '23503', () => insert('lead_job', { user_id: newId() })],
  ['saved_view_name_check', '23514', () => insert('saved_view', { name: '' })],
  ['saved_view_filters_check', '23514', () => insert('saved_view', { filters: '[]' })],
  ['saved_view_widths_check', '23514', () => insert('saved_view', { widths: '1' })],
  [
    'saved_view_workspace_id_fkey',
    '23503',
    () => insert('saved_view', { workspace_id: newId(), user_id: null }),
  ],
  [
    'saved_view_workspace_id_user_id_fkey',
    '23503',
    () => insert('saved_view', { workspace_id: b.workspaceId }),
  ],
  ['landing_page_name_check', '23514', () => insert('landing_page', { name: '' })],
  ['landing_page_name_check', '23514', () => insert('landing_page', { name: 'x'.repeat(256) })],
  [
    'landing_page_workspace_id_fkey',
    '23503',
    () => insert('landing_page', { workspace_id: newId(), campaign_id: null }),
  ],
  [
    'landing_page_workspace_id_campaign_id_fkey',
    '23503',
    () => insert('landing_page', { campaign_id: b.campaignId }),
  ],

  [
    'api_key_hash_key',
    '23505',
    async () => {
      const hash = Buffer.alloc(32, 7);
      await insert('api_key', { hash });
      await insert('api_key', { hash });
    },
  ],
  ['api_key_name_check', '23514', () => insert('api_key', { name: '' })],
  ['api_key_hash_check', '23514', () => insert('api_key', { hash: Buffer.alloc(31) })],
  ['api_key_hash_check', '23514', () => insert('api_key', { hash: Buffer.alloc(33) })],
  ...['', 'lk_1234567', 'lk_123456789', 'xk_12345678', 'lk_1234567_'].map(
    (prefix): [string, string, () => Promise<void>] => [
      'api_key_prefix_check',
      '23514',
      () => insert('api_key', { prefix }),
    ],
  ),
  ['api_key_expires_at_check', '23514', () => insert('api_key', { expires_at: '2026-01-01T00:00:00Z' })],
  ['api_key_workspace_id_user_id_fkey', '23503', () => insert('api_key', { user_id: b.userId })],
  [
    'api_key_workspace_id_default_campaign_id_fkey',
    '23503',
    () => insert('api_key', { default_campaign_id: b.campaignId }),
  ],

  [
    'api_key_allowed_origins_check',
    '23514',
    () => insert('api_key', { scope: 'full', allowed_origins: ['https://a.example'] }),
  ],
  ...[
    { scope: 'intake', scopes: ['leads:delete'] },
    { scope: 'intake', scopes: ['events', null] },
    { scope: 'full', scopes: ['events'] },
    { scope: 'intake', scopes: ['events'], allowed_origins: ['https://a.example'] },
  ].map((key): [string, string, () => Promise<void>] => [
    'api_key_scopes_check',
    '23514',
    () => insert('api_key', key),
  ]),
  ...[
    { allowed_networks: Array.from({ length: 21 }, (_, i) => `10.0.0.${i}`) },
    { scope: 'intake', allowed_networks: ['::1'], allowed_origins: ['https://a.example'] },
  ].map((key): [string, string, () => Promise<void>] => [
    'api_key_allowed_networks_check',
    '23514',
    () => insert('api_key', key),
  ]),
  [
    'api_key_replaces_id_check',
    '23514',
    async () => {
      const id = newId();
      await insert('api_key', { id, replaces_id: id });
    },
  ],

  ...(['session', 'account', 'two_factor'] as const).map((table): [string, string, () => Promise<void>] => [
    `${table}_user_id_fkey`,
    '23503',
    () => insert(table, { user_id: newId() }),
  ]),
  [
    'session_token_key',
    '23505',
    async () => {
      await insert('session', { token: 'x' });
      await insert('session', { token: 'x' });
    },
  ],
  ['session_expires_at_check', '23514', () => insert('session', { expires_at: '2026-01-01T00:00:00Z' })],
  [
    'account_issuer_provider_id_account_id_key',
    '23505',
    async () => {
      await insert('account', { account_id: 'x' });
      await insert('account', { account_id: 'x' });
    },
  ],
  ['invitation_workspace_id_fkey', '23503', () => insert('invitation', { workspace_id: newId() })],
  ['invitation_inviter_id_fkey', '23503', () => insert('invitation', { inviter_id: newId() })],
  ['invitation_status_check', '23514', () => insert('invitation', { status: 'lost' })],
  ['invitation_email_check', '23514', () => insert('invitation', { email: 'Guest@example.com' })],
  [
    'attempt_pkey',
    '23505',
    async () => {
      await insert('attempt', { key: 'x' });
      await insert('attempt', { key: 'x' });
    },
  ],
  ['attempt_count_check', '23514', () => insert('attempt', { count: 0 })],

  [
    'campaign_integration_token_key',
    '23505',
    async () => {
      await insert('campaign', { integration_token: 'x'.repeat(43) });
      await insert('campaign', { integration_token: 'x'.repeat(43) });
    },
  ],
  [
    'campaign_integration_token_check',
    '23514',
    () => insert('campaign', { integration_token: 'x'.repeat(31) }),
  ],

  ['access_token_name_check', '23514', () => insert('access_token', { name: '' })],
  [
    'access_token_expires_at_check',
    '23514',
    () => insert('access_token', { expires_at: '2026-01-01T00:00:00Z' }),
  ],
  ['access_token_workspace_id_user_id_fkey', '23503', () => insert('access_token', { user_id: b.userId })],

  // A lead of workspace A in a campaign of workspace B.
  ['lead_of_campaign', '23503', () => insert('lead', { campaign_id: b.campaignId })],
  ['lead_of_campaign', '23503', () => insert('lead', { workspace_id: b.workspaceId })],
  ['lead_of_user', '23503', () => insert('lead', { user_id: newId() })],
  ...[
    ['lead_owners_kept', '23001', `UPDATE lead SET campaign_id = '${newId()}'`] as const,
    ['lead_owners_kept', '23001', `UPDATE lead SET user_id = '${newId()}'`] as const,
    ['lead_owners_kept', '23001', `UPDATE lead SET workspace_id = '${newId()}'`] as const,
    [
      'lead_of_campaign',
      '23503',
      `UPDATE campaign SET id = '${newId()}' WHERE id IN (SELECT campaign_id FROM lead)`,
    ] as const,
    ['lead_of_campaign', '23503', 'DELETE FROM campaign WHERE id IN (SELECT campaign_id FROM lead)'] as const,
  ].map(([constraint, code, sql]): [string, string, () => Promise<void>] => [
    constraint,
    code,
    async () => {
      await insert('lead');
      await database.query(sql);
    },
  ]),
  [
    'lead_of_user',
    '23503',
    async () => {
      const userId = newId();
      await insert('user', { id: userId, email: `${userId}@example.com` });
      await insert('lead', { user_id: userId });
      await database.query('DELETE FROM "user" WHERE id = $1', [userId]);
    },
  ],
  ['lead_name_check', '23514', () => insert('lead', { name: '' })],
  ['lead_phone_check', '23514', () => insert('lead', { phone: '' })],
  ...['', '442079460958', '+0123456', '+1', '+1234567890123456', '+44 20'].map(
    (phone_e164): [string, string, () => Promise<void>] => [
      'lead_phone_e164_check',
      '23514',
      () => insert('lead', { phone_e164 }),
    ],
  ),
  ...['', 'ada@example.com', 'ada@example.io.', 'ada@example.io\n', 'ada@exampleio'].map(
    (email): [string, string, () => Promise<void>] => [
      'lead_email_check',
      '23514',
      () => insert('lead', { email }),
    ],
  ),
  ['lead_s1_check', '23514', () => insert('lead', { s1: 'x'.repeat(256) })],
  ...['[]', '"x"', '1', 'null', 'true'].map((extra): [string, string, () => Promise<void>] => [
    'lead_extra_check',
    '23514',
    () => insert('lead', { extra }),
  ]),
  ['lead_updated_at_check', '23514', () => insert('lead', { updated_at: '2025-12-31T23:59:59.999Z' })],
  ...[0, -1].map((version): [string, string, () => Promise<void>] => [
    'lead_version_check',
    '23514',
    () => insert('lead', { version }),
  ]),
  ...[0, 31, 33].map((bytes): [string, string, () => Promise<void>] => [
    'lead_content_hash_check',
    '23514',
    () => insert('lead', { content_hash: Buffer.alloc(bytes) }),
  ]),
  [
    'lead_duplicate_of_check',
    '23514',
    async () => {
      const id = newId();
      await insert('lead', { id, duplicate_of: id });
    },
  ],

  ...[0, -1, 315_360_001].map((duplicate_window_seconds): [string, string, () => Promise<void>] => [
    'campaign_duplicate_window_seconds_check',
    '23514',
    () => insert('campaign', { duplicate_window_seconds }),
  ]),
  ...[0, 59, 31_536_001].map((approve_after_seconds): [string, string, () => Promise<void>] => [
    'campaign_approve_after_seconds_check',
    '23514',
    () => insert('campaign', { approve_after_seconds }),
  ]),
  ...['', 'x'.repeat(1_001)].map((hold_reason): [string, string, () => Promise<void>] => [
    'lead_payout_and_hold_check',
    '23514',
    () => insert('lead', { hold_reason }),
  ]),
  ['lead_change_user_id_check', '23514', () => insert('lead_change', { user_id: null })],
  ...[
    { payout_amount: '1' },
    { payout_currency: 'EUR' },
    { payout_amount: '-1', payout_currency: 'EUR' },
    { payout_amount: '1', payout_currency: 'eur' },
  ].map((payout): [string, string, () => Promise<void>] => [
    'campaign_payout_check',
    '23514',
    () => insert('campaign', payout),
  ]),
  ...[
    { payout_amount: '1', payout_currency: 'EUR' },
    { payout_rule: 'lead', payout_amount: '1' },
    { payout_rule: 'lead', payout_currency: 'EUR' },
    { payout_rule: 'lead', payout_amount: '-1', payout_currency: 'EUR' },
    { payout_rule: 'lead', payout_amount: '1', payout_currency: 'euro' },
    { payout_rule: 'campaign', payout_amount: '1', payout_currency: 'EUR' },
  ].map((payout): [string, string, () => Promise<void>] => [
    'lead_payout_and_hold_check',
    '23514',
    () => insert('lead', payout),
  ]),
  ['payment_workspace_id_number_key', '23505', () => insert('payment', { number: 1_000 })],
  ['payment_currency_check', '23514', () => insert('payment', { currency: 'EU' })],
  ['payment_note_check', '23514', () => insert('payment', { note: '' })],
  ...[{ state: 'other' }, { state: 'cancelled' }, { cancel_reason: 'r' }].map(
    (fields): [string, string, () => Promise<void>] => [
      'payment_state_check',
      '23514',
      () => insert('payment', fields),
    ],
  ),
  ...[
    { failures: 1 },
    { last_error: 'rejected', retry_at: 'now()' },
    { failures: 1, last_error: 'other', retry_at: 'now()' },
  ].map((fields): [string, string, () => Promise<void>] => [
    'payment_failure_check',
    '23514',
    () => insert('payment', fields),
  ]),
  ...[
    { number: 0 },
    { amount: '-0.0001' },
    { leads: 3 },
    { returned: 2 },
    { kept: -1 },
    { leads: -1, returned: 0, kept: 0 },
  ].map((fields): [string, string, () => Promise<void>] => [
    'payment_counts_check',
    '23514',
    () => insert('payment', fields),
  ]),
  [
    'payment_workspace_id_fkey',
    '23503',
    () => insert('payment', { workspace_id: newId(), campaign_id: null }),
  ],
  ['payment_workspace_id_campaign_id_fkey', '23503', () => insert('payment', { campaign_id: b.campaignId })],
  ['payment_user_id_fkey', '23503', () => insert('payment', { user_id: newId() })],
  ['payment_created_by_id_fkey', '23503', () => insert('payment', { created_by_id: newId() })],
  [
    'payment_cancelled_by_id_fkey',
    '23503',
    () =>
      insert('payment', {
        state: 'cancelled',
        cancelled_at: 'now()',
        cancelled_by_id: newId(),
        cancel_reason: 'r',
      }),
  ],
  ['payment_lead_payment_id_fkey', '23503', () => insert('payment_lead', { payment_id: newId() })],
  ['payment_lead_amount_check', '23514', () => insert('payment_lead', { amount: '-0.0001' })],
  ...[{ state: 'other' }, { state: 'planned' }, { version: null }].map(
    (fields): [string, string, () => Promise<void>] => [
      'payment_lead_state_check',
      '23514',
      () => insert('payment_lead', fields),
    ],
  ),
  [
    'payment_lead_lead_id_key',
    '23505',
    async () => {
      const id = newId();
      await insert('payment', { id });
      await insert('payment_lead', { payment_id: id });
      await insert('payment_lead', { state: 'planned', version: null });
    },
  ],
  ['publisher_payout_amount_check', '23514', () => insert('publisher_payout', { amount: '-0.0001' })],
  ['publisher_payout_currency_check', '23514', () => insert('publisher_payout', { currency: 'EU' })],
  ['publisher_payout_user_id_fkey', '23503', () => insert('publisher_payout', { user_id: newId() })],
  [
    'publisher_payout_workspace_id_campaign_id_fkey',
    '23503',
    () => insert('publisher_payout', { workspace_id: b.workspaceId }),
  ],
  ...[0, -1, 36_501].map((retention_days): [string, string, () => Promise<void>] => [
    'campaign_retention_days_check',
    '23514',
    () => insert('campaign', { retention_days }),
  ]),
  ...[{ leads: 0, with_s1: 0 }, { with_s1: 2 }, { with_s1: -1 }].map(
    (counts): [string, string, () => Promise<void>] => [
      'lead_tally_erased_leads_check',
      '23514',
      () => insert('lead_tally_erased', counts),
    ],
  ),
  ['erasure_keys_check', '23514', () => insert('erasure', { keys: [] })],
  ['erasure_found_check', '23514', () => insert('erasure', { found: '[]' })],

  [
    'delivery_endpoint_workspace_id_fkey',
    '23503',
    () => insert('delivery_endpoint', { workspace_id: newId() }),
  ],
  ...['', 'x'.repeat(2049)].map((url): [string, string, () => Promise<void>] => [
    'delivery_endpoint_url_check',
    '23514',
    () => insert('delivery_endpoint', { url }),
  ]),
  ...['{}', '{lead.deleted}', '{lead.created,other}'].map(
    (event_types): [string, string, () => Promise<void>] => [
      'delivery_endpoint_event_types_check',
      '23514',
      () => insert('delivery_endpoint', { event_types }),
    ],
  ),
  ...[{ previous_secret: 'x' }, { previous_secret_until: 'now()' }].map(
    (fields): [string, string, () => Promise<void>] => [
      'delivery_endpoint_previous_secret_check',
      '23514',
      () => insert('delivery_endpoint', fields),
    ],
  ),
  ...[
    { disabled_at: 'now()' },
    { disabled_reason: 'user' },
    { disabled_at: 'now()', disabled_reason: 'other' },
  ].map((fields): [string, string, () => Promise<void>] => [
    'delivery_endpoint_disabled_check',
    '23514',
    () => insert('delivery_endpoint', fields),
  ]),
  ...[{ failures: 1 }, { failing_since: 'now()' }, { failures: -1, failing_since: 'now()' }].map(
    (fields): [string, string, () => Promise<void>] => [
      'delivery_endpoint_failures_check',
      '23514',
      () => insert('delivery_endpoint', fields),
    ],
  ),
  [
    'delivery_endpoint_workspace_id_user_id_fkey',
    '23503',
    () => insert('delivery_endpoint', { ...postback, user_id: newId() }),
  ],
  ...[
    { kind: 'other' },
    { secret: null },
    { user_id: () => a.userId },
    { method: 'GET' },
    { ...postback, secret: 'x' },
    { ...postback, method: null },
    { ...postback, statuses: '{}' },
    { ...postback, campaign_ids: `{${newId()},${newId()}}` },
  ].map(({ user_id, ...fields }: { user_id?: () => string }): [string, string, () => Promise<void>] => [
    'delivery_endpoint_kind_check',
    '23514',
    () => insert('delivery_endpoint', { ...fields, ...(user_id && { user_id: user_id() }) }),
  ]),
  [
    'delivery_endpoint_method_check',
    '23514',
    () => insert('delivery_endpoint', { ...postback, method: 'PUT' }),
  ],
  ...[
    { body: 'x', method: 'POST' },
    { body_format: 'form', method: 'POST' },
    { body: 'x', body_format: 'form' },
    { body: 'x', body_format: 'xml', method: 'POST' },
    { body: '', body_format: 'form', method: 'POST' },
    { body: 'x'.repeat(8193), body_format: 'form', method: 'POST' },
  ].map((fields): [string, string, () => Promise<void>] => [
    'delivery_endpoint_body_check',
    '23514',
    () => insert('delivery_endpoint', { ...postback, ...fields }),
  ]),
  ...[{ ...postback, answer_contains: '' }, { answer_contains: 'x' }].map(
    (fields): [string, string, () => Promise<void>] => [
      'delivery_endpoint_answer_contains_check',
      '23514',
      () => insert('delivery_endpoint', fields),
    ],
  ),
  ['delivery_notice_endpoint_id_fkey', '23503', () => insert('delivery_notice', { endpoint_id: newId() })],
  [
    'delivery_notice_workspace_id_user_id_fkey',
    '23503',
    () => insert('delivery_notice', { user_id: b.userId }),
  ],
  ['delivery_endpoint_id_fkey', '23503', () => insert('delivery', { endpoint_id: newId() })],
  [
    'delivery_lead_id_version_endpoint_id_key',
    '23505',
    async () => {
      await insert('delivery');
      await insert('delivery');
    },
  ],
  ...[{ lead_id: null }, { version: null }].map((fields): [string, string, () => Promise<void>] => [
    'delivery_lead_check',
    '23514',
    () => insert('delivery', fields),
  ]),
  ['delivery_state_check', '23514', () => insert('delivery', { state: 'lost', next_attempt_at: null })],
  ...[{ state: 'failed' }, { next_attempt_at: null }].map((fields): [string, string, () => Promise<void>] => [
    'delivery_next_attempt_at_check',
    '23514',
    () => insert('delivery', fields),
  ]),
  [
    'delivery_lease_id_check',
    '23514',
    () => insert('delivery', { state: 'failed', next_attempt_at: null, lease_id: newId() }),
  ],
  ...[{ skip_reason: 'no_s1' }, { state: 'skipped', next_attempt_at: null, skip_reason: 'other' }].map(
    (fields): [string, string, () => Promise<void>] => [
      'delivery_skip_reason_check',
      '23514',
      () => insert('delivery', fields),
    ],
  ),
  ['delivery_request_check', '23514', () => insert('delivery', { request: 'x'.repeat(4097) })],
  ['delivery_answer_check', '23514', () => insert('delivery', { answer: 'x'.repeat(1025) })],
  ['lead_event_log_state_id_check', '23514', () => insert('lead_event_log_state', { id: 2 })],

  ...(
    [
      'api_request',
      'api_usage',
      'lead_change',
      'lead_tally',
      'lead_tally_entry',
      'payment_lead',
      'publisher_payout',
      'payout_tally',
      'payout_tally_entry',
      'lead_tally_erased',
      'lead_outbox',
      'delivery_outbox',
      'delivery_notice',
      'lead_event_log',
      'lead_event_log_state',
      'lead_viewer',
    ] as const
  ).map((table): [string, string, () => Promise<void>] => [
    `${table}_pkey`,
    '23505',
    async () => {
      await insert(table);
      await insert(table);
    },
  ]),
  [
    'lead_change_request_id_key',
    '23505',
    async () => {
      const request_id = newId();
      await insert('lead_change', { request_id });
      await insert('lead_change', {
        request_id,
        version: 3,
        from_status: 'Trashed',
        to_status: 'OnHold',
      });
    },
  ],
  ['lead_note_text_check', '23514', () => insert('lead_note', { text: '' })],
  ['lead_note_text_check', '23514', () => insert('lead_note', { text: 'x'.repeat(4001) })],
  ['lead_note_lead_id_fkey', '23503', () => insert('lead_note', { lead_id: newId() })],
  ['lead_note_author_id_fkey', '23503', () => insert('lead_note', { author_id: newId() })],
  ['lead_note_lead_id_parent_id_fkey', '23503', () => insert('lead_note', { parent_id: newId() })],
  ['lead_viewer_lead_id_fkey', '23503', () => insert('lead_viewer', { lead_id: newId() })],
  ['lead_viewer_workspace_id_user_id_fkey', '23503', () => insert('lead_viewer', { user_id: newId() })],
  ['lead_change_lead_id_fkey', '23503', () => insert('lead_change', { lead_id: newId() })],
  ['lead_change_user_id_fkey', '23503', () => insert('lead_change', { user_id: newId() })],
  ...[1, 0, -1].map((version): [string, string, () => Promise<void>] => [
    'lead_change_version_check',
    '23514',
    () => insert('lead_change', { version }),
  ]),
  ...[
    { from_status: null, to_status: 'Approved' },
    { from_status: 'Approved', to_status: null },
    { ...noStatus, fields: null },
  ].map((fields): [string, string, () => Promise<void>] => [
    'lead_change_content_check',
    '23514',
    () => insert('lead_change', fields),
  ]),
  ...statuses
    .flatMap((from_status) => statuses.map((to_status) => ({ from_status, to_status })))
    .filter(({ from_status, to_status }) => !transitions.has(`${from_status} ${to_status}`))
    .map((change): [string, string, () => Promise<void>] => [
      'lead_change_transition_check',
      '23514',
      () => insert('lead_change', change),
    ]),
  ...[
    { reason: '' },
    { reason: 'x'.repeat(1001) },
    { reason: null },
    { from_status: 'OnHold', reason: null },
    { from_status: 'Paid', to_status: 'Approved', reason: null },
    { ...noStatus, reason: '' },
  ].map((change): [string, string, () => Promise<void>] => [
    'lead_change_reason_check',
    '23514',
    () => insert('lead_change', change),
  ]),
  ...['{}', '[]', '[1]', '"x"', '1', 'null', 'true'].map((fields): [string, string, () => Promise<void>] => [
    'lead_change_fields_check',
    '23514',
    () => insert('lead_change', { fields }),
  ]),
];

/** The unique indexes that no row can violate, because the primary key is a part of them. */
const foreignKeyTargets = ['campaign_workspace_id_id_key', 'lead_note_lead_id_id_key'];

describe('the database', () => {
  test.each(Object.keys(rows) as Table[])('accepts a valid row of %s', async (table) => {
    await rolledBack(async () => {
      await insert(table);
      const [count] = await database.query(`SELECT count(*)::int AS rows FROM "${table}"`);
      expect(count?.['rows']).toBeGreaterThan(0);
    });
  });

  test.each(cases.map(([constraint, code, work], i) => ({ constraint, code, work, i })))(
    'rejects an invalid row by $constraint (case $i)',
    async ({ constraint, code, work }) => {
      const error = await rejection(work);
      expect(`${error.code} ${error.constraint}`).toBe(`${code} ${constraint}`);
    },
  );

  test.each(foreignKeyTargets)('has the unique index %s for the foreign keys', async (index) => {
    const [key] = await database.query(
      `SELECT indisunique AS "unique" FROM pg_index WHERE indexrelid = '${index}'::regclass`,
    );
    expect(key).toEqual({ unique: true });
  });

  test('has no constraint or unique index without a case', async () => {
    const found = await database.query<{ name: string }>(`
      SELECT conname AS name FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'p', 'u', 'x')
      UNION
      SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indisunique AND relnamespace = 'public'::regnamespace`);
    const names = found.map(({ name }) => name).filter((name) => !name.startsWith('_prisma'));
    const tested = new Set([...cases.map(([constraint]) => constraint), ...foreignKeyTargets]);
    for (const byTrigger of ['lead_of_campaign', 'lead_of_user', 'lead_owners_kept'])
      tested.delete(byTrigger);
    expect(names.toSorted()).toEqual([...tested].toSorted());
  });

  test('rejects null in every NOT NULL column', async () => {
    const columns = await database.query<{ table: Table; column: string }>(`
      SELECT relname AS table, attname AS column FROM pg_attribute
        JOIN pg_class ON pg_class.oid = attrelid
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT LIKE '\\_%'
          AND attnum > 0 AND attnotnull AND NOT attisdropped`);
    expect(columns.length).toBeGreaterThan(40);
    for (const { table, column } of columns) {
      const error = await rejection(() => insert(table, { [column]: null }));
      expect(`${error.code} ${error.table}.${error.column}`).toBe(`23502 ${table}.${column}`);
    }
  });

  test.each<[Table, string]>([
    ['member', 'role'],
    ['campaign', 'status'],
    ['api_key', 'scope'],
    ['lead', 'source'],
    ['lead', 'status'],
    ['lead_change', 'from_status'],
    ['lead_change', 'to_status'],
  ])('rejects unknown values of the enum %s.%s', async (table, column) => {
    for (const value of ['', 'other', 'onhold', 'OWNER']) {
      expect((await rejection(() => insert(table, { [column]: value }))).code).toBe('22P02');
    }
  });

  test('accepts every allowed status transition with a reason, and without one if none is required', async () => {
    expect(transitions.size).toBe(7);
    for (const transition of transitions) {
      const [from_status = '', to_status = ''] = transition.split(' ');
      const needsReason = to_status === 'Trashed' || from_status === 'Paid';
      for (const reason of ['x', ...(needsReason ? [] : [null])]) {
        await rolledBack(() => insert('lead_change', { from_status, to_status, reason, fields: null }));
      }
    }
    for (const reason of ['x', null]) {
      await rolledBack(() => insert('lead_change', { ...noStatus, reason }));
    }
  });

  test("rejects updates and deletes of a lead's history, even by the owner of the tables", async () => {
    const [rights] = await database.query(`SELECT pg_get_userbyid(relowner) = current_user AS owner
      FROM pg_class WHERE oid = 'lead_change'::regclass`);
    expect(rights).toEqual({ owner: true });
    for (const sql of [
      `UPDATE lead_change SET reason = 'another'`,
      'UPDATE lead_change SET lead_id = lead_id',
      'DELETE FROM lead_change',
      'TRUNCATE lead_change',
      'TRUNCATE lead CASCADE',
      `INSERT INTO lead_change SELECT * FROM lead_change
         ON CONFLICT (lead_id, version) DO UPDATE SET reason = 'another'`,
    ]) {
      const error = await rejection(async () => {
        await insert('lead_change');
        await database.query(sql);
      });
      expect([sql, error.code, error.message]).toEqual([
        sql,
        '42501',
        'The history of leads is only ever added to',
      ]);
    }
  });

  test('lets only the owner of the tables erase a lead with its history, and keeps both counted', async () => {
    const role = `service_${newId().replaceAll('-', '')}`;
    const attempts = [
      `DELETE FROM lead_change WHERE lead_id = '${leadId}'`,
      `SELECT set_config('leads.erasing', 'on', true); DELETE FROM lead_change WHERE lead_id = '${leadId}'`,
      `SELECT * FROM erase_leads('{${leadId}}')`,
    ];
    for (const sql of attempts) {
      const error = await rejection(async () => {
        await insert('lead_change');
        await database.query(`CREATE ROLE ${role}; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role};
          GRANT ALL ON ALL FUNCTIONS IN SCHEMA public TO ${role}; SET LOCAL ROLE ${role}`);
        await database.query(sql);
      });
      expect([sql, error.code]).toEqual([sql, '42501']);
    }
    await rolledBack(async () => {
      await insert('lead_change');
      await insert('lead_change', { version: 3, from_status: 'Trashed', to_status: 'OnHold' });
      const entries = await database.query('SELECT * FROM lead_tally_entry ORDER BY id');
      expect(await database.query(`SELECT * FROM erase_leads('{${leadId}, ${newId()}}')`)).toEqual([
        { erased_leads: '1', erased_changes: '2' },
      ]);
      expect(await database.query(`SELECT FROM lead WHERE id = '${leadId}'`)).toEqual([]);
      expect(await database.query('SELECT * FROM lead_tally_entry ORDER BY id')).toEqual(entries);
      expect(
        await database.query('SELECT campaign_id, status, leads, with_s1 FROM lead_tally_erased'),
      ).toEqual([{ campaign_id: a.campaignId, status: 'OnHold', leads: 1, with_s1: 1 }]);
    });
  });

  test('rejects the deletion of a lead with a history, and of the user who made the change', async () => {
    for (const sql of [
      `DELETE FROM lead WHERE id = '${leadId}'`,
      `DELETE FROM "user" WHERE id = '${b.userId}'`,
    ]) {
      const error = await rejection(async () => {
        await insert('lead_change', { user_id: b.userId });
        await database.query(sql);
      });
      expect(['23001', '23503']).toContain(error.code);
      expect(error.table).toBe('lead_change');
    }
  });

  test('rejects the deletion of a campaign, workspace or user that has leads', async () => {
    for (const [table, id] of [
      ['campaign', a.campaignId],
      ['workspace', a.workspaceId],
      ['"user"', a.userId],
    ] as const) {
      const error = await rejection(async () => {
        await insert('lead');
        await database.query(`DELETE FROM ${table} WHERE id = $1`, [id]);
      });
      expect(['23001', '23503']).toContain(error.code);
    }
  });

  test('rejects the deletion of a campaign while a lead is inserted, and a batch with one wrong campaign', async () => {
    await using opened = openDatabase(databaseOptions(database.url));
    const deleted = await opened.transaction(async (tx) => {
      const tenant = await addTenant(database, newId());
      await tx.$executeRaw(Prisma.sql`
        INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, words, created_at, updated_at)
        VALUES (${newId()}::uuid, ${tenant.workspaceId}::uuid, ${tenant.otherCampaignId}::uuid, ${tenant.userId}::uuid,
          'crm', 'OnHold', 'Ada', '1', '{}', now(), now())`);
      const deleting = database.query('DELETE FROM campaign WHERE id = $1', [tenant.otherCampaignId]).then(
        () => 'deleted',
        (error: { constraint?: string }) => error.constraint,
      );
      // The deletion waits for the end of this transaction.
      expect(await Promise.race([deleting, sleep(300, 'waits')])).toBe('waits');
      return { deleting };
    });
    expect(await deleted.deleting).toBe('lead_of_campaign');
    const mixed = [leadOf(a), leadOf(b), leadOf(a, { campaignId: b.campaignId }), leadOf(a)];
    await expect(createLeadStore(opened).insert(mixed)).rejects.toMatchObject({ sqlState: '23503' });
    expect(
      await database.query('SELECT 1 FROM lead WHERE id = ANY($1)', [mixed.map(({ id }) => id)]),
    ).toEqual([]);
  });

  test('deletes the credentials of a deleted member', async () => {
    await rolledBack(async () => {
      await insert('api_key');
      await insert('access_token');
      await database.query('DELETE FROM member WHERE user_id = $1', [a.userId]);
      expect(await database.query('SELECT id FROM api_key UNION ALL SELECT id FROM access_token')).toEqual(
        [],
      );
    });
  });
});
