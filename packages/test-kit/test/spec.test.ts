import { type Service, startService } from '@leads/test-kit/services';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestWorkspace } from '../src/fixture.ts';
import { type Answer, HttpClient } from '../src/http-client.ts';
import { personalData } from '../src/log-check/confidential.ts';
import { LogCapture } from '../src/log-check/log-capture.ts';
import { prepareEnvironment, type TestEnvironment } from '../src/running-stack.ts';

/*
 * Tests each sentence of the specification against both services as processes. Cases that the specification
 * leaves open ("not shown") are tested as decided, if a client can observe them.
 */

type Json = Record<string, unknown>;

const validation = { success: false, error: 'validation', message: 'Invalid input data' };
const unauthorized = { success: false, error: 'unauthorized', message: 'Authentication failed' };
const unexpected = { success: false, error: 'error', message: 'An unexpected error occurred' };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isoDateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Section 2.1. */
const newLead = {
  campaignCode: 'DEMO',
  name: personalData.name,
  phone: personalData.phone,
  address: personalData.address,
  email: personalData.email,
  country: 'GB',
  region: 'Greater London',
  city: 'Londinium',
  street: 'Wharf Lane',
  zipcode: 'E14 5AB',
  website: 'https://nest.io/about',
  description: personalData.description,
};
const requiredOfNewLead = ['campaignCode', 'name', 'phone'];
const writeOnlyFields = ['email', 'city', 'street', 'zipcode', 'website', 'description'] as const;

/** Section 2.3. */
const intakeLead = {
  name: personalData.name,
  phone: personalData.phone,
  s1: personalData.s1,
  lp_name: 'Spring offer',
  address: personalData.address,
};

const nonStrings = [1, 0, 1.5, true, false, null, [], ['x'], {}, { x: 'x' }];

let environment: TestEnvironment;
let workspace: TestWorkspace;
let crmService: Service;
let intakeService: Service;
let crm: HttpClient;
let intake: HttpClient;

beforeAll(async () => {
  environment = await prepareEnvironment();
  workspace = environment.workspace;
  const env = { ...environment.env, LOG_LEVEL: 'trace' };
  [crmService, intakeService] = await Promise.all([
    startService('crm', { env }),
    startService('intake', { env }),
  ]);
  crm = new HttpClient(Number(new URL(crmService.url).port));
  intake = new HttpClient(Number(new URL(intakeService.url).port));
});

afterAll(async () => {
  crm.close();
  intake.close();
  await Promise.all([crmService.stop(), intakeService.stop()]);
  await environment[Symbol.asyncDispose]();
});

const leadsPath = '/api/v1/order/leads';
const intakePath = '/api/v1/leads';

type Headers = Record<string, string>;
const both = (): Headers => ({ ...workspace.owner.headers });
const keyOnly = (): Headers => ({ API_KEY: workspace.owner.apiKey });

const create = (body: unknown, headers: Headers = both()) =>
  crm.send({ method: 'POST', path: leadsPath, headers, body });
const list = (headers: Headers = both(), query = '') => crm.send({ path: leadsPath + query, headers });
const submit = (body: unknown, headers: Headers = keyOnly()) =>
  intake.send({ method: 'POST', path: intakePath, headers, body });

const statusAndBody = (answer: Answer) => [answer.status, answer.json()];

async function created(fields: Json = {}): Promise<Json> {
  const answer = await create({ campaignCode: 'DEMO', name: 'Ada', phone: '1', ...fields });
  expect(answer.status, answer.text).toBe(200);
  return answer.json<{ lead: Json }>().lead;
}

async function submitted(fields: Json = {}): Promise<string> {
  const answer = await submit({ name: 'Ada', phone: '1', ...fields });
  expect(answer.status, answer.text).toBe(200);
  return answer.json<{ order_id: string }>().order_id;
}

async function rowOf(id: unknown): Promise<Json> {
  const [row] = await environment.fixture.sql<Json>('SELECT *, host(ip) AS ip FROM lead WHERE id = $1', [id]);
  if (row === undefined) throw new Error(`Lead ${String(id)} does not exist`);
  return row;
}

async function listed(id: unknown): Promise<Json> {
  const found = (await list()).json<Json[]>().find((lead) => lead['id'] === id);
  if (found === undefined) throw new Error(`Lead ${String(id)} is not in the list`);
  return found;
}

const countLeads = async () =>
  (await environment.fixture.sql<{ count: string }>('SELECT count(*) FROM lead'))[0]?.count;

describe('spec, introduction', () => {
  test('spec, introduction: both base URLs include the /api path prefix', async () => {
    const body = { ...newLead };
    const withoutPrefix = { method: 'POST', headers: both(), body };
    expect((await crm.send({ ...withoutPrefix, path: '/v1/order/leads' })).status).toBe(404);
    expect((await intake.send({ ...withoutPrefix, path: '/v1/leads' })).status).toBe(404);
    expect((await create(body)).status).toBe(200);
    expect((await submit(intakeLead)).status).toBe(200);
  });
});

describe('spec 1', () => {
  test('spec 1: a stored lead belongs to a campaign and to a user', async () => {
    const attached = { workspace_id: workspace.id, user_id: workspace.owner.userId };
    const { id } = await created();
    expect(await rowOf(id)).toMatchObject({ ...attached, campaign_id: workspace.demoCampaignId });
    const orderId = await submitted();
    expect(await rowOf(orderId)).toMatchObject({ ...attached, campaign_id: workspace.defaultCampaignId });
  });

  test('spec 1: the CRM interface creates a lead in a campaign and lists leads', async () => {
    const lead = await created();
    expect(await listed(lead['id'])).toEqual(lead);
  });

  test('spec 1: the CRM create requires a campaign code', async () => {
    const { campaignCode: _, ...body } = newLead;
    expect(statusAndBody(await create(body))).toEqual([400, validation]);
  });

  test('spec 1: the intake creates a lead from a landing page and returns an order identifier', async () => {
    const id = await submitted({ lp_name: 'From a landing page' });
    expect(await rowOf(id)).toMatchObject({ source: 'intake', lp_name: 'From a landing page' });
  });

  test('spec 1: all response bodies are JSON, including errors', async () => {
    for (const answer of [
      await create(newLead),
      await create({}),
      await create(newLead, {}),
      await list(),
      await list(both(), '?limit=0'),
      await list({}),
      await submit(intakeLead),
      await submit({}),
      await submit(intakeLead, {}),
      await crm.send({ path: '/nowhere' }),
      await intake.send({ method: 'DELETE', path: intakePath }),
    ]) {
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(typeof answer.json()).toBe('object');
    }
  });

  test('spec 1: a request body that is not JSON is rejected with 415', async () => {
    // Without a header, curl names the second type.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const headers = { 'Content-Type': type };
      for (const answer of [
        await create('name=Ada', { ...both(), ...headers }),
        await submit('name=Ada', { ...keyOnly(), ...headers }),
      ]) {
        const message = expect.stringMatching(/^Unsupported media type: send application\/json/);
        expect(statusAndBody(answer)).toEqual([415, { success: false, error: 'validation', message }]);
      }
    }
  });
});

describe('spec 2.1: NewLead', () => {
  test('spec 2.1: every field is accepted and stored unchanged', async () => {
    const lead = await created(newLead);
    const { campaignCode: _, ...fields } = newLead;
    expect(await rowOf(lead['id'])).toMatchObject({ ...fields, campaign_id: workspace.demoCampaignId });
  });

  test.each(Object.keys(newLead))(
    'spec 2.1: %s is a string, and a value of another type is rejected',
    async (field) => {
      const before = await countLeads();
      for (const value of nonStrings) {
        expect(statusAndBody(await create({ ...newLead, [field]: value })), JSON.stringify(value)).toEqual([
          400,
          validation,
        ]);
      }
      expect(await countLeads()).toBe(before);
    },
  );

  test.each(requiredOfNewLead)('spec 2.1: %s is required', async (field) => {
    const body: Json = { ...newLead };
    delete body[field];
    expect(statusAndBody(await create(body))).toEqual([400, validation]);
    expect(statusAndBody(await create({ ...newLead, [field]: '' }))).toEqual([400, validation]);
  });

  test.each(Object.keys(newLead).filter((field) => !requiredOfNewLead.includes(field)))(
    'spec 2.1: %s is not required',
    async (field) => {
      const body: Json = { ...newLead };
      delete body[field];
      const answer = await create(body);
      expect(answer.status).toBe(200);
      expect((await rowOf(answer.json<{ lead: Json }>().lead['id']))[field]).toBeNull();
    },
  );

  test('spec 2.1: a lead with only the required fields is accepted', async () => {
    expect((await create({ campaignCode: 'DEMO', name: 'Ada', phone: '1' })).status).toBe(200);
  });

  test('spec 2.1: campaignCode is the code of the campaign that receives the lead', async () => {
    const campaignId = await workspace.addCampaign('Another code');
    expect((await created({ campaignCode: 'Another code' }))['campaignId']).toBe(campaignId);
  });

  test.each(['ada@nest.io', 'a.b+c@sub.ne-st.IO', 'x@y.Io', 'x@y.iO', "o'neill@nest.io"])(
    'spec 2.1: an email that ends with .io in any case is accepted: %s',
    async (email) => {
      expect((await rowOf((await created({ email }))['id']))['email']).toBe(email);
    },
  );

  test.each([
    'ada@nest.com',
    'ada@nest.io.com',
    'ada@nest.io ',
    'ada@nestio',
    'ada@io',
    'ada@nest.xio',
    'ada@nest.ioo',
    'ada@.io',
    'nest.io',
    '@nest.io',
    'a b@nest.io',
    'ada@@nest.io',
    'ada@nest.\u0131o',
    '.io',
    '',
  ])('spec 2.1: an email of another format or domain is rejected: %j', async (email) => {
    expect(statusAndBody(await create({ ...newLead, email }))).toEqual([400, validation]);
  });
});

describe('spec 2.2: Lead', () => {
  const required = ['id', 'name', 'phone', 'createdAt', 'updatedAt', 'campaignId', 'userId'];
  const optional = ['ip', 'address', 'state', 'region', 'country', 'status'];

  /** Creates a lead with every field, and returns it as listed. */
  async function fullLead(): Promise<Json> {
    const { id } = await created(newLead);
    await environment.fixture.sql(`UPDATE lead SET state = 'Essex', ip = '203.0.113.7' WHERE id = $1`, [id]);
    return listed(id);
  }

  test('spec 2.2: create and list return the same Lead', async () => {
    const lead = await created(newLead);
    expect(await listed(lead['id'])).toEqual(lead);
  });

  test('spec 2.2: a Lead always has the required fields, and no field outside the table', async () => {
    for (const lead of [await created(), await listed(await submitted()), await fullLead()]) {
      const fields = Object.keys(lead);
      expect(fields).toEqual(expect.arrayContaining(required));
      expect(fields.filter((field) => ![...required, ...optional].includes(field))).toEqual([]);
    }
    expect(Object.keys(await fullLead()).toSorted()).toEqual([...required, ...optional].toSorted());
  });

  test.each([...required, ...optional])('spec 2.2: %s is a string', async (field) => {
    expect((await fullLead())[field]).toEqual(expect.stringMatching(/./));
  });

  test('spec 2.2: a Lead omits optional fields without a value', async () => {
    expect(Object.keys(await created()).toSorted()).toEqual([...required, 'status'].toSorted());
  });

  test('spec 2.2: id is unique for each lead', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await created())['id']));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(uuid);
  });

  test('spec 2.2: name and phone are returned as sent', async () => {
    for (const [name, phone] of [
      ['Zoë "Ada" O’Neil \\ 😀', '+44 (0)20 7946-0958'],
      [' padded ', 'call me'],
    ]) {
      expect(await created({ name, phone })).toMatchObject({ name, phone });
    }
  });

  test('spec 2.2: createdAt is the time of creation and updatedAt of the last update, both in ISO 8601', async () => {
    const before = Date.now();
    const lead = await created();
    const after = Date.now();
    expect(lead['updatedAt']).toBe(lead['createdAt']);
    for (const field of ['createdAt', 'updatedAt'] as const) {
      const text = lead[field] as string;
      expect(text).toMatch(isoDateTime);
      expect(new Date(text).toISOString()).toBe(text);
      expect(Date.parse(text)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(text)).toBeLessThanOrEqual(after);
    }
    await environment.fixture.sql(`UPDATE lead SET updated_at = '2099-12-31T23:59:59.999Z' WHERE id = $1`, [
      lead['id'],
    ]);
    expect(await listed(lead['id'])).toEqual({ ...lead, updatedAt: '2099-12-31T23:59:59.999Z' });
  });

  test('spec 2.2: campaignId is the id of the campaign, and userId of the owning user', async () => {
    const colleague = await workspace.addMember('manager');
    const answer = await create(newLead, { ...colleague.headers });
    expect(answer.json<{ lead: Json }>().lead).toMatchObject({
      campaignId: workspace.demoCampaignId,
      userId: colleague.userId,
    });
  });

  test('spec 2.2: ip is the address of the visitor, and is missing if an integrator’s server creates the lead', async () => {
    expect((await listed(await submitted()))['ip']).toBe('127.0.0.1');
    expect(await created()).not.toHaveProperty('ip');
  });

  test('spec 2.2: address, region and country are returned as sent', async () => {
    expect(await created(newLead)).toMatchObject({
      address: newLead.address,
      region: newLead.region,
      country: newLead.country,
    });
    expect((await listed(await submitted(intakeLead)))['address']).toBe(intakeLead.address);
  });

  test('spec 2.2: state is returned once the lead has one', async () => {
    expect(await created()).not.toHaveProperty('state');
    expect((await fullLead())['state']).toBe('Essex');
  });

  test.each(['OnHold', 'Trashed', 'Paid', 'Approved'])('spec 2.2: status can be %s', async (status) => {
    const { id } = await created();
    await environment.fixture.sql('UPDATE lead SET status = $2::lead_status WHERE id = $1', [id, status]);
    expect((await listed(id))['status']).toBe(status);
  });

  test.each(writeOnlyFields)('spec 2.2: %s is accepted and never returned', async (field) => {
    const markedLead = {
      ...newLead,
      [field]: field === 'email' ? 'never.shown@marked.io' : `marked ${field}`,
    };
    const answer = await create(markedLead);
    expect(answer.status).toBe(200);
    const { id } = answer.json<{ lead: Json }>().lead;
    expect((await rowOf(id))[field]).toBe(markedLead[field]);
    for (const text of [answer.text, (await list()).text]) {
      expect(text).not.toContain('marked');
      expect(text).not.toContain(`"${field}"`);
    }
  });
});

describe('spec 2.3: intake lead', () => {
  test('spec 2.3: every field is accepted and stored unchanged', async () => {
    expect(await rowOf(await submitted(intakeLead))).toMatchObject(intakeLead);
  });

  test.each(Object.keys(intakeLead))(
    'spec 2.3: %s is a string, and a value of another type is rejected',
    async (field) => {
      const before = await countLeads();
      for (const value of nonStrings) {
        expect(statusAndBody(await submit({ ...intakeLead, [field]: value })), JSON.stringify(value)).toEqual(
          [400, validation],
        );
      }
      expect(await countLeads()).toBe(before);
    },
  );

  test.each(['name', 'phone'])('spec 2.3: %s is required, since it is required in a Lead', async (field) => {
    const body: Json = { ...intakeLead };
    delete body[field];
    expect(statusAndBody(await submit(body))).toEqual([400, validation]);
    expect(statusAndBody(await submit({ ...intakeLead, [field]: '' }))).toEqual([400, validation]);
  });

  test.each(['s1', 'lp_name', 'address'])('spec 2.3: %s is not required', async (field) => {
    const body: Json = { ...intakeLead };
    delete body[field];
    const answer = await submit(body);
    expect(answer.status).toBe(200);
    expect((await rowOf(answer.json<Json>()['order_id']))[field]).toBeNull();
  });

  test('spec 2.3: s1 is opaque and stored unchanged, up to 255 characters', async () => {
    for (const s1 of ['', ' {click_id} ', 'A%20b+c', '0017', 'null', '{"a":1}\n', '\u{1F600}'.repeat(255)]) {
      expect((await rowOf(await submitted({ s1 })))['s1']).toBe(s1);
    }
    expect(statusAndBody(await submit({ ...intakeLead, s1: 'x'.repeat(256) }))).toEqual([400, validation]);
  });
});

describe('spec 2.4: intake create result', () => {
  test('spec 2.4: the result has success true, the order_id of the created lead, and no other field', async () => {
    const answer = await submit(intakeLead);
    expect(statusAndBody(answer)).toEqual([
      200,
      { success: true, order_id: expect.stringMatching(uuid) as string },
    ]);
    const id = answer.json<Json>()['order_id'];
    expect(await rowOf(id)).toMatchObject({ name: intakeLead.name });
    expect((await listed(id))['id']).toBe(id);
  });
});

describe('spec 3: states', () => {
  test('spec 3: either interface creates a lead as OnHold, whatever the body contains', async () => {
    for (const status of ['Paid', 'Approved', 'Trashed', 'nonsense', 7]) {
      expect((await created({ status }))['status']).toBe('OnHold');
    }
    expect((await listed(await submitted({ status: 'Paid' })))['status']).toBe('OnHold');
  });

  test('spec 3: no status other than the four is allowed', async () => {
    const { id } = await created();
    for (const status of ['Lost', 'onhold', '']) {
      const change = environment.fixture.sql('UPDATE lead SET status = $2::lead_status WHERE id = $1', [
        id,
        status,
      ]);
      await expect(change).rejects.toMatchObject({ code: '22P02' });
    }
    expect((await listed(id))['status']).toBe('OnHold');
  });
});

describe('spec 4.1: create lead (CRM)', () => {
  test('spec 4.1: POST {base_url}/v1/order/leads answers 200 with success, the lead and no other field', async () => {
    const answer = await crm.send({
      method: 'POST',
      path: '/api/v1/order/leads',
      headers: {
        API_KEY: workspace.owner.apiKey,
        Authorization: `Bearer ${workspace.owner.accessToken}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(newLead),
    });
    expect(answer.status).toBe(200);
    const body = answer.json<{ success: boolean; lead: Json }>();
    expect(Object.keys(body).toSorted()).toEqual(['lead', 'success']);
    expect(body.success).toBe(true);
    expect(body.lead).toEqual(await listed(body.lead['id']));
  });

  test('spec 4.1: other methods than POST do not create a lead', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = await crm.send({ method, path: leadsPath, headers: both() });
      expect(answer.status).toBe(405);
      expect(answer.json()).toMatchObject({ success: false, error: 'error' });
    }
  });

  test('spec 4.1: the body is required', async () => {
    const json = { ...both(), 'Content-Type': 'application/json' };
    for (const answer of [
      await crm.send({ method: 'POST', path: leadsPath, headers: json }),
      await create('', json),
      await create('null', json),
      await create('[]', json),
      await create('"text"', json),
      await create('{', json),
      await create({}),
    ]) {
      expect(statusAndBody(answer)).toEqual([400, validation]);
    }
    const without = await crm.send({ method: 'POST', path: leadsPath, headers: both() });
    expect([400, 415]).toContain(without.status);
    expect(without.json()).toMatchObject({ success: false, error: 'validation' });
  });

  test('spec 4.1: an invalid lead is rejected with 400 and the validation error body', async () => {
    expect(statusAndBody(await create({ ...newLead, name: 1 }))).toEqual([400, validation]);
  });

  test('spec 4.1: missing credentials are rejected with 401 and the unauthorized error body', async () => {
    expect(statusAndBody(await create(newLead, {}))).toEqual([401, unauthorized]);
  });
});

describe('spec 4.2: list leads (CRM)', () => {
  test('spec 4.2: GET {base_url}/v1/order/leads with both credentials and no body answers 200', async () => {
    const { id } = await created();
    const answer = await crm.send({
      method: 'GET',
      path: '/api/v1/order/leads',
      headers: { API_KEY: workspace.owner.apiKey, Authorization: `Bearer ${workspace.owner.accessToken}` },
    });
    expect(answer.status).toBe(200);
    expect(answer.json<Json[]>()[0]?.['id']).toBe(id);
  });

  test('spec 4.2: the body is an array that contains only Leads', async () => {
    await created();
    await submitted();
    const leads = (await list()).json<Json[]>();
    expect(Array.isArray(leads)).toBe(true);
    for (const lead of leads) {
      expect(lead).toMatchObject({
        id: expect.stringMatching(uuid) as string,
        name: expect.any(String) as string,
        phone: expect.any(String) as string,
        createdAt: expect.stringMatching(isoDateTime) as string,
        updatedAt: expect.stringMatching(isoDateTime) as string,
        campaignId: expect.stringMatching(uuid) as string,
        userId: expect.stringMatching(uuid) as string,
      });
      for (const field of writeOnlyFields) expect(lead).not.toHaveProperty(field);
    }
  });

  test('spec 4.2: the list of a workspace without leads is an empty array', async () => {
    const { owner } = await environment.fixture.createWorkspace();
    const answer = await list({ ...owner.headers });
    expect(statusAndBody(answer)).toEqual([200, []]);
    expect(answer.headers).not.toHaveProperty('link');
  });

  test('spec 4.2: errors of the list have the same three fields and the same statuses as those of the create', async () => {
    expect(statusAndBody(await list(both(), '?nonsense=1'))).toEqual([400, validation]);
    expect(statusAndBody(await list(both(), '?limit=0'))).toEqual([400, validation]);
    expect(statusAndBody(await list({}))).toEqual([401, unauthorized]);
  });
});

describe('spec 4.3: create lead (intake)', () => {
  test('spec 4.3: POST {edge_url}/v1/leads with the API key and no Authorization answers with the result', async () => {
    const answer = await intake.send({
      method: 'POST',
      path: '/api/v1/leads',
      headers: { API_KEY: workspace.owner.apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(intakeLead),
    });
    expect(statusAndBody(answer)).toEqual([
      200,
      { success: true, order_id: expect.stringMatching(uuid) as string },
    ]);
  });

  test('spec 4.3: errors have the same three fields and the same statuses as those of the CRM', async () => {
    expect(statusAndBody(await submit({ ...intakeLead, name: 1 }))).toEqual([400, validation]);
    expect(statusAndBody(await submit('{', { ...keyOnly(), 'Content-Type': 'application/json' }))).toEqual([
      400,
      validation,
    ]);
    expect(statusAndBody(await submit(intakeLead, {}))).toEqual([401, unauthorized]);
  });
});

describe('spec 5: authentication', () => {
  const operations: [string, (headers: Headers) => Promise<Answer>, needsToken: boolean][] = [
    ['CRM create', (headers) => create(newLead, headers), true],
    ['CRM list', (headers) => list(headers), true],
    ['intake create', (headers) => submit(intakeLead, headers), false],
  ];

  test.each(operations)(
    'spec 5: the API key is in the header API_KEY: %s',
    async (_name, send, needsToken) => {
      const token: Headers = needsToken ? { Authorization: both()['Authorization'] as string } : {};
      const { apiKey } = workspace.owner;
      expect((await send({ ...token, API_KEY: apiKey })).status).toBe(200);
      expect((await send({ ...token, api_key: apiKey })).status).toBe(200);
      for (const name of ['APIKEY', 'API-KEY', 'X-API_KEY', 'Cookie']) {
        expect(statusAndBody(await send({ ...token, [name]: apiKey })), name).toEqual([401, unauthorized]);
      }
    },
  );

  test.each(operations.filter(([, , needsToken]) => needsToken))(
    'spec 5: the access token is a bearer token in the header Authorization: %s',
    async (_name, send) => {
      const { accessToken } = workspace.owner;
      expect((await send({ ...keyOnly(), Authorization: `Bearer ${accessToken}` })).status).toBe(200);
      for (const Authorization of [
        accessToken,
        `Basic ${accessToken}`,
        `Token ${accessToken}`,
        'Bearer',
        'Bearer ',
      ]) {
        expect(statusAndBody(await send({ ...keyOnly(), Authorization })), Authorization.slice(0, 8)).toEqual(
          [401, unauthorized],
        );
      }
    },
  );

  test.each(operations.filter(([, , needsToken]) => needsToken))(
    'spec 5, 1: the API key and the access token are required together: %s',
    async (_name, send) => {
      const { API_KEY = '', Authorization = '' } = both();
      expect((await send({ API_KEY, Authorization })).status).toBe(200);
      expect(statusAndBody(await send({ API_KEY }))).toEqual([401, unauthorized]);
      expect(statusAndBody(await send({ Authorization }))).toEqual([401, unauthorized]);
    },
  );

  test('spec 5, 2: the intake requires only the API key', async () => {
    expect((await submit(intakeLead, keyOnly())).status).toBe(200);
    expect(statusAndBody(await submit(intakeLead, { Authorization: both()['Authorization'] ?? '' }))).toEqual(
      [401, unauthorized],
    );
  });

  test.each(operations)(
    'spec 5, 4: failed authentication is answered with the unauthorized error body: %s',
    async (_name, send) => {
      for (const headers of [
        {},
        { ...both(), API_KEY: '' },
        { ...both(), API_KEY: 'lk_wrong' },
        { ...both(), API_KEY: `${workspace.owner.apiKey.slice(0, -1)}?` },
        { ...both(), API_KEY: workspace.owner.accessToken },
      ]) {
        expect(statusAndBody(await send(headers))).toEqual([401, unauthorized]);
      }
    },
  );

  test.each(operations.filter(([, , needsToken]) => needsToken))(
    'spec 5, 4: an API key and a token of different members are rejected: %s',
    async (_name, send) => {
      const other = await environment.fixture.createWorkspace();
      const colleague = await workspace.addMember('owner');
      for (const { apiKey } of [other.owner, colleague]) {
        expect(statusAndBody(await send({ ...both(), API_KEY: apiKey }))).toEqual([401, unauthorized]);
      }
    },
  );
});

describe('spec 6: events', () => {
  test('spec 6: the response to a create has no field about events', async () => {
    expect(Object.keys((await submit(intakeLead)).json<Json>()).toSorted()).toEqual(['order_id', 'success']);
  });
});

describe('spec 7: errors', () => {
  const errors: [string, () => Promise<Answer>][] = [
    ['400 of the create', () => create({})],
    ['400 of the list', () => list(both(), '?x=1')],
    ['400 of a cursor', () => list(both(), '?cursor=x')],
    ['400 of a campaign', () => create({ ...newLead, campaignCode: 'unknown' })],
    ['400 of the intake', () => submit({})],
    ['401 of the create', () => create(newLead, {})],
    ['401 of the list', () => list({})],
    ['401 of the intake', () => submit(intakeLead, {})],
    ['404', () => crm.send({ path: '/api/v1/nowhere' })],
    ['405', () => intake.send({ path: intakePath })],
    ['413', () => submit({ ...intakeLead, address: 'x'.repeat(70_000) })],
    ['415', () => submit('x', { ...keyOnly(), 'Content-Type': 'text/plain' })],
  ];

  test.each(errors)(
    'spec 7: every error body has three fields: success, error, message: %s',
    async (name, send) => {
      const answer = await send();
      expect(answer.status).toBe(Number(name.slice(0, 3)));
      const body = answer.json<Json>();
      expect(Object.keys(body).toSorted()).toEqual(['error', 'message', 'success']);
      expect(body['success']).toBe(false);
      expect(['validation', 'unauthorized', 'error']).toContain(body['error']);
      expect(body['message']).toEqual(expect.stringMatching(/\S/));
    },
  );

  test('spec 7: validation, "Invalid input data", 400: required fields missing', async () => {
    expect(statusAndBody(await create({ campaignCode: 'DEMO' }))).toEqual([400, validation]);
  });

  test('spec 7: validation, "Invalid input data", 400: wrong types', async () => {
    expect(statusAndBody(await create({ ...newLead, phone: 442079460958 }))).toEqual([400, validation]);
  });

  test('spec 7: validation, "Invalid input data", 400: email not matching its rules', async () => {
    expect(statusAndBody(await create({ ...newLead, email: 'ada@nest.com' }))).toEqual([400, validation]);
    expect(statusAndBody(await create({ ...newLead, email: 'nest.io' }))).toEqual([400, validation]);
  });

  test('spec 7: unauthorized, "Authentication failed", 401: credentials missing', async () => {
    expect(statusAndBody(await create(newLead, {}))).toEqual([401, unauthorized]);
  });

  test('spec 7: unauthorized, "Authentication failed", 401: credentials invalid', async () => {
    const tampered = `${both()['Authorization']?.slice(0, -4)}AAAA`;
    expect(statusAndBody(await create(newLead, { ...both(), Authorization: tampered }))).toEqual([
      401,
      unauthorized,
    ]);
    expect(statusAndBody(await create(newLead, { ...both(), API_KEY: 'invalid' }))).toEqual([
      401,
      unauthorized,
    ]);
  });

  test('spec 7: error, "An unexpected error occurred", 500: an unexpected failure, logged without personal data', async () => {
    // Both services have cached the credentials, so the statement for the lead fails.
    expect([(await list()).status, (await submit(intakeLead)).status]).toEqual([200, 200]);
    const before = [crmService, intakeService].map((service) => service.output().length);
    await environment.fixture.sql('ALTER TABLE lead RENAME COLUMN name TO renamed');
    try {
      for (const answer of [
        await create(newLead),
        await list(),
        await submit({ ...intakeLead, unnamed: personalData.description }),
      ]) {
        expect(statusAndBody(answer)).toEqual([500, unexpected]);
      }
    } finally {
      await environment.fixture.sql('ALTER TABLE lead RENAME COLUMN renamed TO name');
    }
    expect([(await create(newLead)).status, (await submit(intakeLead)).status]).toEqual([200, 200]);

    for (const [i, service] of [crmService, intakeService].entries()) {
      const written = () => service.output().slice(before[i]);
      await expect.poll(written).toContain('Unexpected error');
      const entry = written()
        .split('\n')
        .find((line) => line.includes('Unexpected error'));
      // The log line has the error and its stack, for the operator.
      expect(JSON.parse(entry ?? '')).toMatchObject({
        level: 'error',
        reqId: expect.stringMatching(uuid) as string,
        err: {
          message: expect.stringContaining('42703') as string,
          stack: expect.stringContaining('at ') as string,
        },
      });
    }
  });

  test('spec 7: error bodies contain no internal details', async () => {
    for (const [, send] of errors) {
      const { text } = await send();
      expect(text).not.toMatch(/stack|node_modules|postgres|prisma|sql|at \//i);
    }
  });
});

describe('spec 8: limits', () => {
  test('spec 8: a body of 64 KiB is accepted, and one byte more is rejected with 413', async () => {
    const sized = (fields: Json, bytes: number) => {
      const length = bytes - JSON.stringify({ ...fields, address: '' }).length;
      return { ...fields, address: 'x'.repeat(length) };
    };
    const tooLarge = { success: false, error: 'validation', message: 'Request body is larger than 64 KiB' };
    const forCrm = { campaignCode: 'DEMO', name: 'Ada', phone: '1' };
    const forIntake = { name: 'Ada', phone: '1' };
    expect((await create(sized(forCrm, 65_536))).status).toBe(200);
    expect((await submit(sized(forIntake, 65_536))).status).toBe(200);
    expect(statusAndBody(await create(sized(forCrm, 65_537)))).toEqual([413, tooLarge]);
    expect(statusAndBody(await submit(sized(forIntake, 65_537)))).toEqual([413, tooLarge]);
  });
});

describe('spec 9: versioning', () => {
  test('spec 9: the path contains the version as /v1/', async () => {
    for (const version of ['', '/v0', '/v2', '/V1']) {
      const lead = { method: 'POST', headers: both(), body: newLead };
      expect((await crm.send({ ...lead, path: `/api${version}/order/leads` })).status).toBe(404);
      expect((await intake.send({ ...lead, path: `/api${version}/leads` })).status).toBe(404);
    }
  });

  test('spec 9: the OpenAPI document of the CRM has the version 1.0.0', async () => {
    const description = (await crm.send({ path: '/openapi.json' })).json<{ info: Json; paths: Json }>();
    expect(description.info['version']).toBe('1.0.0');
    expect(Object.keys(description.paths)).toContain('/api/v1/order/leads');
  });
});

describe('spec, all sections', () => {
  test('the logs of both services contain no lead data and no credentials', () => {
    const capture = new LogCapture();
    for (const service of [crmService, intakeService]) {
      const lines = service.output().trimEnd().split('\n');
      expect(lines.length).toBeGreaterThan(20);
      for (const line of lines) capture.write(line);
    }
    capture.assertNothingConfidential();
    expect(capture.entries().every((entry) => typeof entry['time'] === 'string')).toBe(true);
  });
});
