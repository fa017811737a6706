import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startCrm } from './crm.ts';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import { signInAs, type Visitor } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;

const unavailable = { success: false, error: 'error', message: 'Service temporarily unavailable' };

test.each([
  { name: 'a page of the website', send: (visitor: Visitor) => visitor.get('/me') },
  {
    name: 'a change of the account',
    send: (visitor: Visitor) => visitor.account('/update-user', { name: 'Someone' }),
  },
  {
    name: 'a change of members',
    send: (visitor: Visitor, { id: organizationId }: TestWorkspace) =>
      visitor.account('/organization/leave', { organizationId }),
  },
  { name: 'a sign-out', send: (visitor: Visitor) => visitor.account('/sign-out') },
])(
  '$name is answered with 503 if Postgres cancels the statement that reads the session',
  async ({ send }) => {
    const workspace = await fixture.createWorkspace();
    const { visitor } = await signInAs(service, workspace, 'owner');
    const release = await fixture.holdTable('session', 'ACCESS EXCLUSIVE');
    onTestFinished(release);
    let isAnswered = false;
    const answered = send(visitor, workspace).finally(() => (isAnswered = true));
    // Postgres does the same after the statement timeout (57014). A request may send several such statements.
    const cancel = () =>
      fixture.sql(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%session%'`);
    await expect.poll(() => cancel().then(() => isAnswered)).toBe(true);
    const answer = await answered;
    expect([answer.status, answer.json()]).toEqual([503, unavailable]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    await release();
    // The user is still signed in.
    expect((await visitor.get('/me')).status).toBe(200);
  },
);
