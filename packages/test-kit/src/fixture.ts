import { randomUUID, scryptSync } from 'node:crypto';
import { type Accounts, createAccounts } from '@leads/core/account';
import type { CampaignStatus, CampaignStore, IntakeRouting, LandingPageStore } from '@leads/core/campaign';
import {
  type AccessTokenCodec,
  type ApiKeyScope,
  type CredentialStore,
  issueAccessToken,
  issueApiKey,
  type MemberRole,
} from '@leads/core/credential';
import {
  createAccountStore,
  createCampaignStore,
  createCredentialStore,
  createIntakeRouting,
  createLandingPageStore,
  createLeadStore,
  createWorkspaceStore,
  openDatabase,
} from '@leads/core/db';
import type { LeadStore, StoredLead } from '@leads/core/lead';
import type { WorkspaceStore } from '@leads/core/workspace';
import pg from 'pg';
import { forgeToken } from './forged-token.ts';
import { personalData } from './log-check/confidential.ts';

/** The secret that signs access tokens in tests. */
export const jwtSecret = 'a secret of the tests, at least 32 characters long';

/** The password of every account in the tests. */
export const password = 'correct horse battery';

/** The hash of {@link password}, at the cost of the service. Hashing it for each user takes 65 ms of processor time. */
let passwordHash: string | undefined;
function hashOnce(): string {
  const salt = 'the salt of the tests';
  const cost = { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 };
  return (passwordHash ??= `${salt}:${scryptSync(password, salt, 64, cost).toString('hex')}`);
}

/** Creates the initial data of a test through the use cases and the stores of the services. */
export interface Fixture extends AsyncDisposable {
  /** The accounts of a CRM with {@link jwtSecret} and without mails. New users have {@link password}. */
  readonly accounts: Accounts;
  readonly campaigns: CampaignStore;
  readonly credentials: CredentialStore;
  readonly intakeRouting: IntakeRouting;
  readonly landingPages: LandingPageStore;
  readonly leads: LeadStore;
  readonly workspaces: WorkspaceStore;
  /** Runs SQL, for data that no use case creates and for checks of stored data. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Blocks writes of other connections to a table until the returned function is called; by `ACCESS EXCLUSIVE`, reads too. */
  holdTable(
    table:
      | 'lead'
      | 'lead_change'
      | 'landing_page'
      | 'lead_tally'
      | 'payment'
      | 'payment_lead'
      | 'saved_view'
      | 'delivery_endpoint'
      | 'member'
      | 'session'
      | 'two_factor'
      | 'invitation'
      | 'api_key'
      | 'lead_event_log_state',
    mode?: 'EXCLUSIVE' | 'ACCESS EXCLUSIVE',
  ): Promise<() => Promise<void>>;
  /** Returns the number of statements of some patterns that wait for a lock. */
  countBlocked(...patterns: string[]): Promise<number>;
  /** Adds a copy of a lead with another id, such as an id that an earlier release derived. */
  copyLead(id: string, copyId: string): Promise<void>;
  /** Creates a workspace with an owner, its default campaign and an active campaign with the code `DEMO`. */
  createWorkspace(): Promise<TestWorkspace>;
}

export interface TestWorkspace {
  readonly id: string;
  readonly slug: string;
  readonly defaultCampaignId: string;
  readonly demoCampaignId: string;
  readonly owner: TestMember;
  /**
   * Adds a member. @param options.email may be the address of a member of another workspace.
   */
  addMember(role: MemberRole, options?: MemberOptions): Promise<TestMember>;
  /** Creates a campaign. @returns its id. */
  addCampaign(code: string, status?: CampaignStatus): Promise<string>;
  mapLandingPage(name: string, campaignId: string | null): Promise<void>;
  /** Returns the fields of a lead, to insert through the store. */
  lead(member: TestMember, changes?: Partial<StoredLead>): StoredLead;
}

interface MemberOptions {
  readonly email?: string;
  /** The scope of the key; `full` if absent. */
  readonly scope?: ApiKeyScope;
  /** The networks that the key is bound to. */
  readonly allowedNetworks?: readonly string[];
}

/** A member with a valid API key and a valid access token. */
export interface TestMember {
  readonly workspaceId: string;
  readonly userId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly apiKey: string;
  readonly apiKeyId: string;
  readonly accessToken: string;
  readonly accessTokenId: string;
  /** Request headers with both credentials. */
  readonly headers: { readonly API_KEY: string; readonly Authorization: string };
}

/** Signs tokens like the CRM, for tests of services that do not create tokens. */
const defaultCodec: AccessTokenCodec = {
  sign(claims, lifetimeSeconds) {
    const iat = Math.floor(Date.now() / 1000);
    const content = { ...claims, iss: 'leads-crm', aud: 'leads-api', iat, exp: iat + lifetimeSeconds };
    return forgeToken(content, { secret: jwtSecret });
  },
  verify: () => undefined,
};

/** Opens a fixture on a database. @param codec signs the access tokens. */
export function openFixture(databaseUrl: string, codec: AccessTokenCodec = defaultCodec): Fixture {
  const database = openDatabase({
    url: databaseUrl,
    poolSize: 4,
    // High enough for a busy machine.
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 30_000,
    applicationName: 'leads-tests',
  });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  /** Ends the transactions that hold tables. */
  const held = new Set<() => Promise<void>>();
  pool.on('error', () => undefined);
  const campaigns = createCampaignStore(database);
  const credentials = createCredentialStore(database);
  const landingPages = createLandingPageStore(database);
  const leads = createLeadStore(database);
  const workspaces = createWorkspaceStore(database);
  const sql = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<Row>(text, values)).rows;

  const addMember = async (
    slug: string,
    role: MemberRole,
    options: MemberOptions = {},
  ): Promise<TestMember> => {
    const email = options.email ?? `${randomUUID()}@example.com`;
    const workspace = { slug, name: slug };
    const added = await workspaces.addMember({ email, name: 'Test', role, workspace });
    const member = { workspaceId: added.workspace.id, userId: added.user.id };
    const { apiKey, record: key } = await issueApiKey(credentials, member, {
      name: 'Test key',
      scope: options.scope ?? 'full',
      allowedNetworks: options.allowedNetworks ?? [],
    });
    const { accessToken, record: token } = await issueAccessToken(credentials, codec, member, {
      name: 'Test token',
    });
    return {
      ...member,
      email,
      role,
      apiKey,
      apiKeyId: key.id,
      accessToken,
      accessTokenId: token.id,
      headers: { API_KEY: apiKey, Authorization: `Bearer ${accessToken}` },
    };
  };

  return {
    accounts: createAccounts({
      openAdapter: async () =>
        (await import('@leads/core/db/account-adapter')).createAccountAdapter(database),
      store: createAccountStore(database),
      workspaces,
      secret: jwtSecret,
      publicUrl: 'http://127.0.0.1',
      signUp: true,
      passwordHash: {
        async hash(text) {
          if (text !== password) throw new Error('Users of the fixture have the password of the tests');
          return hashOnce();
        },
        verify: async ({ password: text }) => text === password,
      },
      onError(error) {
        throw error;
      },
    }),
    campaigns,
    credentials,
    intakeRouting: createIntakeRouting(database),
    landingPages,
    leads,
    workspaces,
    sql,
    async holdTable(table, mode = 'EXCLUSIVE') {
      const client = await pool.connect();
      await client.query(`BEGIN; LOCK TABLE ${table} IN ${mode} MODE`);
      const release = async () => {
        if (!held.delete(release)) return;
        await client.query('ROLLBACK');
        client.release();
      };
      held.add(release);
      return release;
    },
    async countBlocked(...patterns) {
      const rows = await sql(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ANY($1)`,
        [patterns],
      );
      return rows.length;
    },
    async copyLead(id, copyId) {
      await sql(
        `INSERT INTO lead SELECT (jsonb_populate_record(lead, jsonb_build_object('id', $2::text))).*
         FROM lead WHERE id = $1`,
        [id, copyId],
      );
    },
    async createWorkspace() {
      const slug = `w-${randomUUID()}`;
      const owner = await addMember(slug, 'owner');
      const id = owner.workspaceId;
      const addCampaign = async (code: string, status: CampaignStatus = 'active') => {
        const campaign = await campaigns.create({ workspaceId: id, code, name: code, isDefault: false });
        if (status !== campaign.status) await campaigns.update(id, campaign.id, () => ({ status }));
        return campaign.id;
      };
      const [first] = await campaigns.list(id);
      if (first === undefined) throw new Error('A new workspace must have a default campaign');
      const demoCampaignId = await addCampaign('DEMO');
      return {
        id,
        slug,
        owner,
        defaultCampaignId: first.id,
        demoCampaignId,
        addMember: (role, options) => addMember(slug, role, options),
        addCampaign,
        async mapLandingPage(name, campaignId) {
          await landingPages.add([{ workspaceId: id, name }]);
          await landingPages.map(id, { name }, campaignId ?? undefined);
        },
        lead: (member, changes = {}) => ({
          id: randomUUID(),
          workspaceId: id,
          campaignId: demoCampaignId,
          userId: member.userId,
          source: 'crm',
          status: 'OnHold',
          version: 1,
          name: personalData.name,
          phone: personalData.phone,
          createdAt: new Date(),
          updatedAt: changes.createdAt ?? new Date(),
          ...changes,
        }),
      };
    },
    async [Symbol.asyncDispose]() {
      // A test that failed has not released its tables, and then the pool would never end.
      for (const release of held) await release();
      await pool.end();
      await database[Symbol.asyncDispose]();
    },
  };
}
