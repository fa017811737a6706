import { issueApiKey } from '@leads/core/credential';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startIntake } from './intake.ts';

// All requests have the same address.
const intake = await startIntake({ INTAKE_VISITOR_REQUESTS_PER_MINUTE: '0' });
afterAll(() => intake[Symbol.asyncDispose]());
const { service, fixture } = intake;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;

const offer = 'https://offer.example';
const { apiKey: browserKey } = await issueApiKey(fixture.credentials, owner, {
  name: 'In a page',
  scope: 'intake',
  allowedOrigins: [offer, 'http://localhost:8080'],
});
const person = { name: personalData.name, phone: personalData.phone };
const formType = 'application/x-www-form-urlencoded';
const invalid = { success: false, error: 'validation', message: 'Invalid input data' };

beforeEach(() => fixture.sql('DELETE FROM lead'));
const leads = () => fixture.sql<Record<string, unknown>>('SELECT * FROM lead ORDER BY id');

/** Sends a form as a browser does, with the key in the query. */
const submit = (
  fields: Record<string, string> | [string, string][] | string,
  headers: Record<string, string> = {},
) =>
  service.send({
    method: 'POST',
    path: `/api/v1/leads?API_KEY=${browserKey}`,
    headers: { Origin: offer, 'Content-Type': formType, ...headers },
    body: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  });
const sendJson = (apiKey: string, body: object) =>
  service.send({ method: 'POST', path: '/api/v1/leads', headers: { API_KEY: apiKey, Origin: offer }, body });

const idIn = (location: string | undefined) => new URL(location ?? '').searchParams.get('order_id');

describe('a form', () => {
  test('is stored as a lead, like JSON of the same fields', async () => {
    const answer = await submit({
      ...person,
      s1: personalData.s1,
      lp_name: 'spring',
      address: personalData.address,
    });
    const { order_id: id, ...rest } = answer.json<{ order_id: string }>();
    expect([answer.status, rest]).toEqual([200, { success: true }]);
    expect(await leads()).toEqual([
      expect.objectContaining({
        id,
        ...person,
        s1: personalData.s1,
        lp_name: 'spring',
        address: personalData.address,
        phone_e164: '+442079460958',
        source: 'intake',
        extra: null,
      }),
    ]);
  });

  test('is rejected with 415 for a key that is not bound to origins, and a problem says which key it needs', async () => {
    const sendForm = (accept: string) =>
      service.send({
        method: 'POST',
        path: '/api/v1/leads',
        headers: { API_KEY: owner.apiKey, 'Content-Type': `${formType}; charset=UTF-8`, Accept: accept },
        body: new URLSearchParams(person).toString(),
      });
    const answer = await sendForm('application/json');
    expect([answer.status, answer.json()]).toEqual([
      415,
      {
        success: false,
        error: 'validation',
        message: 'Unsupported media type: send application/json, or use a key that is bound to web origins',
      },
    ]);
    expect((await sendForm('application/problem+json')).json()).toMatchObject({
      status: 415,
      errors: [
        {
          header: 'content-type',
          detail: 'must be application/json: only a key that is bound to web origins may send forms',
        },
      ],
    });
    expect(await leads()).toEqual([]);
  });

  test('stores additional fields in extra, repeated fields as a list, and no empty fields', async () => {
    const answer = await submit([
      ...Object.entries(person),
      ['address', ''],
      ['s1', ''],
      ['fax', ''],
      ['interest', 'solar'],
      ['interest', 'heat pumps'],
      ['consent', 'on'],
      ['_gotcha', ''],
      ['redirect', ''],
    ]);
    expect(answer.status).toBe(200);
    expect(await leads()).toEqual([
      expect.objectContaining({
        address: null,
        s1: null,
        extra: { interest: ['solar', 'heat pumps'], consent: 'on' },
      }),
    ]);
  });

  test('is validated like a lead', async () => {
    const twice: [string, string][] = [...Object.entries(person), ['name', personalData.name]];
    for (const fields of [
      { name: personalData.name },
      { ...person, name: '' },
      { ...person, s1: 'x'.repeat(256) },
      twice,
      '',
      'name=%ff&phone=1',
      'name=a%00b&phone=1',
      'name=%&phone=1',
      JSON.stringify(person),
    ]) {
      const answer = await submit(fields);
      expect([fields, answer.status, answer.json()]).toEqual([fields, 400, invalid]);
    }
    const problem = await submit(
      { name: personalData.name, s1: 'x'.repeat(256) },
      { Accept: 'application/problem+json' },
    );
    expect(problem.json()).toMatchObject({
      errors: [
        { pointer: '#/phone', detail: 'is required' },
        { pointer: '#/s1', detail: 'must have at most 255 characters' },
      ],
    });
    expect((await submit({ ...person, large: 'x'.repeat(70_000) })).status).toBe(413);
    expect((await submit('name=x', { 'Content-Type': 'multipart/form-data; boundary=x' })).status).toBe(415);
    expect(await leads()).toEqual([]);
  });

  test('is parsed only after the API key is verified', async () => {
    const answer = await service.send({
      method: 'POST',
      path: '/api/v1/leads',
      headers: { Origin: offer, 'Content-Type': formType },
      body: `name=%ff&API_KEY=${browserKey}`,
    });
    expect(answer.status).toBe(401);
  });
});

describe('redirect', () => {
  test('sends the visitor to its target with the id of the lead and no other data of it', async () => {
    for (const [redirect, expected] of [
      [`${offer}/thanks`, `${offer}/thanks?order_id=`],
      [offer, `${offer}/?order_id=`],
      ['HTTPS://OFFER.example:443/a/../b', `${offer}/b?order_id=`],
      [`${offer}/thanks?a=%20+b&order_id=1#done`, `${offer}/thanks?a=%20+b&order_id=1&order_id=`],
      [`${offer}/?`, `${offer}/?order_id=`],
      [`${offer}/é`, `${offer}/%C3%A9?order_id=`],
      ['http://localhost:8080/', 'http://localhost:8080/?order_id='],
    ] as const) {
      await fixture.sql('DELETE FROM lead');
      const answer = await submit({ ...person, redirect });
      const [lead] = await leads();
      const fragment = redirect.includes('#') ? '#done' : '';
      expect(answer.headers['referrer-policy']).toBe('strict-origin-when-cross-origin');
      expect([answer.status, answer.headers.location, answer.text]).toEqual([
        303,
        `${expected}${String(lead?.['id'])}${fragment}`,
        '',
      ]);
      expect(lead?.['extra']).toBeNull();
    }
  });

  test('to a target outside the origins of the key is rejected with 400, and the lead is not stored', async () => {
    for (const redirect of [
      'https://evil.example/',
      '//evil.example',
      '//offer.example',
      '/thanks',
      'thanks',
      '\\\\evil.example',
      'https:/\\evil.example',
      'https:evil.example',
      'https://offer.example@evil.example/',
      'https://offer.example:x@evil.example/',
      'https://evil.example\\@offer.example/',
      'https://someone@offer.example/',
      'https://:secret@offer.example/',
      'https://offer.example.evil.example/',
      'https://evil.example#@offer.example/',
      'https://evil.example?https://offer.example/',
      'https://offer.example:8443/',
      'http://offer.example/',
      'http://localhost/',
      'javascript:alert(1)//https://offer.example',
      'java\tscript:alert(1)',
      'data:text/html,x',
      'blob:https://offer.example/0d9b1b2c',
      'https://offer.example/\r\nSet-Cookie: a=b',
      ' https://offer.example/',
      'https://offer.example/a b',
      'https://offer.example/a\\b',
      'https://offer%2eexample.evil.example/',
      'https://',
      'null',
    ]) {
      const answer = await submit({ ...person, redirect });
      expect([redirect, answer.status, answer.json()]).toEqual([
        redirect,
        400,
        {
          ...invalid,
          message: 'redirect must be an absolute URL at one of the origins that the API key is bound to',
        },
      ]);
    }
    const twice = await submit([...Object.entries(person), ['redirect', offer], ['redirect', offer]]);
    expect(twice.status).toBe(400);
    const problem = await submit({ ...person, redirect: '/' }, { Accept: 'application/problem+json' });
    expect(problem.json()).toMatchObject({ errors: [{ pointer: '#/redirect' }] });
    expect(await leads()).toEqual([]);
  });

  test('is ignored and not stored in JSON of a browser key', async () => {
    const answer = await sendJson(browserKey, { ...person, redirect: 'https://evil.example/', more: 1 });
    expect(answer.status).toBe(200);
    expect(await leads()).toEqual([expect.objectContaining({ extra: { more: 1 } })]);
  });

  test('does not replace the 400 of an invalid form', async () => {
    const answer = await submit({ name: personalData.name, redirect: `${offer}/thanks` });
    expect([answer.status, answer.json(), answer.headers.location]).toEqual([400, invalid, undefined]);
  });
});

describe('the honeypot', () => {
  const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  test('prevents the lead from being stored if it is filled in, and the answer looks like success', async () => {
    const good = await submit({ ...person, redirect: `${offer}/thanks` });
    const trapped = await submit({ ...person, redirect: `${offer}/thanks`, _gotcha: personalData.name });
    expect(idIn(trapped.headers.location)).toMatch(uuid7);
    expect(idIn(good.headers.location)).toMatch(uuid7);
    const without = ({ headers }: typeof good) => ({
      ...headers,
      'x-request-id': '',
      date: '',
      location: '',
      ratelimit: '',
    });
    expect([trapped.status, trapped.text, without(trapped)]).toEqual([good.status, good.text, without(good)]);

    const json = await sendJson(browserKey, {
      ...person,
      lp_name: 'never registered',
      _gotcha: personalData.name,
    });
    expect([json.status, json.json()]).toEqual([
      200,
      { success: true, order_id: expect.stringMatching(uuid7) },
    ]);
    expect(await leads()).toHaveLength(1);
    const pages = await fixture.sql("SELECT 1 FROM landing_page WHERE name = 'never registered'");
    expect(pages).toEqual([]);
    const lines = service.logs
      .entries()
      .filter(({ msg }) => msg === 'The honeypot is filled in; the lead is not stored');
    expect(lines.map(({ level, reqId }) => [level, reqId])).toEqual([
      ['info', trapped.headers['x-request-id']],
      ['info', json.headers['x-request-id']],
    ]);
    expect((await service.send({ path: '/metrics' })).text).toMatch(/^lead_honeypots_total 2$/m);
  });

  test('does not change the errors of an invalid form or the id of a repeated request', async () => {
    expect((await submit({ name: personalData.name, _gotcha: 'x' })).status).toBe(400);
    expect((await submit({ ...person, _gotcha: 'x', redirect: 'https://evil.example' })).status).toBe(400);
    const repeat = () => submit({ ...person, _gotcha: 'x' }, { 'Idempotency-Key': 'one' });
    expect((await repeat()).text).toBe((await repeat()).text);
    expect(await leads()).toEqual([]);
  });

  test('prevents the lead from being stored if one of its repeated fields is filled in', async () => {
    const repeated: [string, string][] = [...Object.entries(person), ['_gotcha', 'x'], ['_gotcha', 'y']];
    expect((await submit(repeated)).status).toBe(200);
    expect((await sendJson(browserKey, { ...person, _gotcha: ['', 'x'] })).status).toBe(200);
    expect(await leads()).toEqual([]);
  });

  test('does not prevent a lead if it is empty', async () => {
    // A script that reads a missing input or a checkbox sends a value that is not text.
    const empty = ['', null, false, 0, [], ['', '']];
    for (const _gotcha of empty) {
      expect((await sendJson(browserKey, { ...person, _gotcha })).status).toBe(200);
    }
    expect((await submit({ ...person, _gotcha: '' })).status).toBe(200);
    expect((await leads()).map(({ extra }) => extra)).toEqual([...empty, ''].map(() => null));
  });

  test('is stored in extra with a secret key', async () => {
    expect((await sendJson(owner.apiKey, { ...person, _gotcha: 'x', redirect: '/' })).status).toBe(200);
    expect(await leads()).toEqual([expect.objectContaining({ extra: { _gotcha: 'x', redirect: '/' } })]);
  });
});
