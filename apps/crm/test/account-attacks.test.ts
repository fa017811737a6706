import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from '@leads/test-kit/http-client';
import { jwtSecret, type TestWorkspace } from '@leads/test-kit/fixture';
import { type Inbox, linkIn, openInbox } from '@leads/test-kit/inbox';
import { totp } from '@leads/test-kit/totp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { libraryPaths } from '../src/routes/account/library-paths.ts';
import { runLeads } from './command-line.ts';
import { type Crm, cheapHash, startCrm, startCrmService } from './crm.ts';
import { password, signInAs, Visitor } from './visitor.ts';

/* Attacks on accounts, each as a stranger or a member of another workspace would try it. */

let inbox: Inbox;
/** Confirms addresses by mail. */
let mailing: Crm;
/** Sends no mails. */
let silent: Crm;
beforeAll(async () => {
  inbox = await openInbox();
  mailing = await startCrm({
    SMTP_URL: inbox.url,
    MAIL_FROM: 'Leads <leads@example.com>',
    PUBLIC_URL: 'http://leads.example',
  });
  silent = await startCrm();
});
afterAll(async () => {
  await mailing?.[Symbol.asyncDispose]();
  await silent?.[Symbol.asyncDispose]();
  await inbox?.[Symbol.asyncDispose]();
});

const newEmail = () => `${randomUUID()}@example.com`;
const tokenOf = (link: URL | string) => new URL(link).searchParams.get('token') ?? '';

/** Opens the link of a mail that confirms an address. */
const openLink = (visitor: Visitor, mail: string) =>
  visitor.send('GET', `/auth/verify-email?token=${encodeURIComponent(tokenOf(linkIn(mail)))}`);

/** Opens the link of the next mail to an address. */
async function confirm(visitor: Visitor, email: string) {
  return openLink(visitor, await inbox.mailTo(email));
}

/** Signs up and confirms the address. */
async function confirmedVisitor(email = newEmail()): Promise<Visitor> {
  const visitor = new Visitor(mailing.service);
  await visitor.signUp(email);
  expect((await confirm(visitor, email)).status).toBe(200);
  return visitor;
}

describe('the confirmation of an address', () => {
  test('removes the password of a stranger who signed up with the address, and lets its owner choose one', async () => {
    const email = newEmail();
    const stranger = new Visitor(mailing.service);
    await stranger.signUp(email);
    const owner = new Visitor(mailing.service);
    const answer = await confirm(owner, email);
    expect([answer.status, answer.json()]).toEqual([
      200,
      { next: 'choosePassword', passwordToken: expect.any(String) },
    ]);
    expect((await owner.get('/me')).status).toBe(401);
    expect((await stranger.signIn(email)).status).toBe(401);
    const { passwordToken } = answer.json<{ passwordToken: string }>();
    const newPassword = 'the password of the owner';
    expect((await owner.account('/reset-password', { token: passwordToken, newPassword })).status).toBe(200);
    expect((await owner.signIn(email, newPassword)).status).toBe(200);
    expect((await stranger.signIn(email)).status).toBe(401);
  });

  test('keeps the password if the browser that signed in to the unconfirmed account opens the link', async () => {
    const email = newEmail();
    await new Visitor(mailing.service).signUp(email);
    await inbox.mailTo(email);
    const phone = new Visitor(mailing.service);
    expect((await phone.signIn(email)).status).toBe(403);
    expect((await confirm(phone, email)).json()).toEqual({ next: 'signedIn' });
    expect((await phone.get('/me')).status).toBe(200);
    expect((await new Visitor(mailing.service).signIn(email)).status).toBe(200);
  });

  test('removes the password of a stranger even if the owner of the address tried to sign up, too', async () => {
    const email = newEmail();
    const [stranger, owner] = [new Visitor(mailing.service), new Visitor(mailing.service)];
    await stranger.signUp(email);
    const mail = await inbox.mailTo(email);
    await owner.signUp(email);
    expect((await openLink(owner, mail)).json()).toMatchObject({ next: 'choosePassword' });
    expect((await stranger.signIn(email)).status).toBe(401);
  });

  test('changes nothing when the link is opened again, in any browser', async () => {
    const email = newEmail();
    const visitor = new Visitor(mailing.service);
    await visitor.signUp(email);
    const mail = await inbox.mailTo(email);
    expect((await openLink(visitor, mail)).json()).toEqual({ next: 'signedIn' });
    const another = new Visitor(mailing.service);
    expect((await openLink(another, mail)).json()).toEqual({ next: 'signIn' });
    expect((await another.get('/me')).status).toBe(401);
    expect((await visitor.get('/me')).status).toBe(200);
    expect((await another.signIn(email)).status).toBe(200);
  });

  test('does not sign in an account with a second factor', async () => {
    const email = newEmail();
    const visitor = await confirmedVisitor(email);
    await visitor.addSecondFactor();
    // The account is older than the mail server: its address is not confirmed yet.
    await mailing.fixture.sql('UPDATE "user" SET email_verified = false WHERE email = $1', [email]);
    await visitor.account('/sign-out');
    expect((await visitor.signIn(email)).status).toBe(403);
    expect((await confirm(visitor, email)).json()).toEqual({ next: 'signIn' });
    expect((await visitor.get('/me')).status).toBe(401);
    expect((await visitor.signIn(email)).json()).toMatchObject({ twoFactorRedirect: true });
  });
});

describe('an invited address', () => {
  const invite = (workspace: TestWorkspace, email: string) =>
    silent.fixture.sql<{ id: string }>(
      `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
       VALUES (gen_random_uuid(), $1, $2, 'publisher', $3, now() + interval '1 day') RETURNING id`,
      [workspace.id, email, workspace.owner.userId],
    );

  test('cannot be taken by a stranger without the link of the invitation if no mail confirms addresses', async () => {
    const email = newEmail();
    const [{ id: invitationId } = { id: '' }] = await invite(await silent.fixture.createWorkspace(), email);
    const stranger = new Visitor(silent.service);
    for (const address of [email, email.toUpperCase()]) {
      const answer = await stranger.signUp(address);
      expect([answer.status, answer.json()]).toEqual([
        403,
        {
          success: false,
          error: 'unauthorized',
          message: 'This address is invited: sign up by the link of the invitation',
        },
      ]);
    }
    const body = { name: 'Invited', email, password, invitationId };
    expect((await new Visitor(silent.service).account('/sign-up/email', body)).status).toBe(200);
  });
});

describe('password links', () => {
  const request = (email: string) =>
    new Visitor(mailing.service).account('/request-password-reset', { email });
  const reset = async (token: string, newPassword = 'another good phrase') =>
    (await new Visitor(mailing.service).account('/reset-password', { token, newPassword })).status;

  test('are stored as hashes, and a stored hash is no link', async () => {
    const email = newEmail();
    await confirmedVisitor(email);
    await request(email);
    const token = tokenOf(linkIn(await inbox.mailTo(email)));
    const rows = await mailing.fixture.sql<{ identifier: string }>(
      `SELECT identifier FROM verification
       WHERE value = (SELECT id::text FROM "user" WHERE email = $1)`,
      [email],
    );
    expect(rows).toHaveLength(1);
    const { identifier } = rows[0] ?? { identifier: '' };
    expect(identifier).not.toContain(token);
    for (const guess of [identifier, identifier.split(':').at(-1) ?? ''])
      expect(await reset(guess)).toBe(400);
    expect(await reset(token)).toBe(200);
    expect(await reset(token)).toBe(400);
  });

  test('are void after a newer link, after a use of another link, and after a change of the password', async () => {
    const email = newEmail();
    const visitor = await confirmedVisitor(email);
    const link = async () => {
      await request(email);
      return tokenOf(linkIn(await inbox.mailTo(email)));
    };
    const older = await link();
    const newer = await link();
    expect(await reset(older)).toBe(400);
    const { stdout } = await runLeads(['user', 'password-link', '--email', email, '--json'], {
      DATABASE_URL: mailing.databaseUrl,
      JWT_SECRET: jwtSecret,
    });
    const { link: operators } = JSON.parse(stdout) as { link: string };
    expect(await reset(newer)).toBe(400);
    expect(await reset(tokenOf(operators))).toBe(200);

    const beforeChange = await link();
    await visitor.signIn(email, 'another good phrase');
    const change = { currentPassword: 'another good phrase', newPassword: password };
    expect((await visitor.account('/change-password', change)).status).toBe(200);
    expect(await reset(beforeChange)).toBe(400);
  });

  test('are valid after several requests at once, except the older ones', async () => {
    const email = newEmail();
    await confirmedVisitor(email);
    for (let round = 1; round <= 3; round++) {
      await Promise.all([request(email), request(email), request(email)]);
      const tokens = [];
      for (let count = 1; count <= 3; count++) tokens.push(tokenOf(linkIn(await inbox.mailTo(email))));
      const statuses = [];
      for (const token of tokens) statuses.push(await reset(token));
      expect(statuses).toContain(200);
    }
  });
});

describe('invitations', () => {
  /** Invites a person to a workspace. Default: the only one of the visitor. */
  const invite = async (visitor: Visitor, email: string, workspaceId?: string) => {
    const me = (await visitor.get('/me')).json<{ workspace: { id: string } }>();
    const organizationId = workspaceId ?? me.workspace.id;
    return visitor.account('/organization/invite-member', { email, role: 'publisher', organizationId });
  };

  test('have a mail with the confirmed address of the inviter, and no text of users in its subject', async () => {
    const from = newEmail();
    const visitor = await confirmedVisitor(from);
    const email = newEmail();
    expect((await invite(visitor, email)).json()).toMatchObject({ email, mailed: true });
    const mail = await inbox.mailTo(email);
    expect(mail).toMatch(/^Subject: You are invited to a workspace\r$/m);
    expect(mail).toContain(`${from} invites you`);
    expect(mail).not.toMatch(/^Subject:.*Test Person/m);
  });

  test('have a mail without the name of the workspace if the name holds a web address', async () => {
    const visitor = await confirmedVisitor();
    await mailing.fixture.sql(
      `UPDATE workspace SET name = 'Win at evil.example/prize' WHERE id =
       (SELECT workspace_id FROM member WHERE user_id = (SELECT user_id FROM session ORDER BY created_at DESC LIMIT 1))`,
    );
    const email = newEmail();
    await invite(visitor, email);
    const mail = await inbox.mailTo(email);
    expect(mail).toContain('invites you to a workspace');
    expect(mail).not.toContain('evil.example');
  });

  test('need a confirmed address of the inviter if the service sends mails', async () => {
    const email = newEmail();
    const visitor = await confirmedVisitor(email);
    await mailing.fixture.sql('UPDATE "user" SET email_verified = false WHERE email = $1', [email]);
    const { workspace } = (await visitor.get('/me')).json<{ workspace: { id: string } }>();
    const invitation = { email: newEmail(), role: 'publisher', organizationId: workspace.id };
    const headers = { Accept: 'application/problem+json' };
    const answer = await visitor.send('POST', '/auth/organization/invite-member', invitation, headers);
    expect(answer.json()).toMatchObject({
      status: 403,
      type: 'urn:leads:error:email_unverified',
      title: 'Your email address is not confirmed: open the link in the mail',
    });
  });

  test('to one address are limited to 3 a day of a workspace, and the last one stays valid', async () => {
    const { visitor } = await signInAs(silent.service, await silent.fixture.createWorkspace(), 'owner');
    const email = newEmail();
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await invite(visitor, email)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const limited = await invite(visitor, email.toUpperCase());
    expect(limited.status).toBe(429);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(80_000);
    const pending = (await visitor.get('/invitations')).json<{ email: string }[]>();
    expect(pending.map((each) => each.email)).toEqual([email]);
    expect((await invite(visitor, newEmail())).status).toBe(200);
  });

  test('of a workspace are limited to 100 a day, and only its owners use them up', async () => {
    const workspace = await silent.fixture.createWorkspace();
    const owner = await signInAs(silent.service, workspace, 'owner');
    const stranger = await signInAs(silent.service, await silent.fixture.createWorkspace(), 'owner');
    const publisher = await signInAs(silent.service, workspace, 'publisher');
    for (const other of [stranger, publisher]) {
      expect((await invite(other.visitor, newEmail(), workspace.id)).status).toBeLessThan(404);
    }
    expect((await invite(owner.visitor, newEmail())).status).toBe(200);
    const [row] = await silent.fixture.sql<{ count: number }>(
      `UPDATE attempt SET count = count + 98
       WHERE key LIKE 'invite:%' AND since = (SELECT max(since) FROM attempt WHERE key LIKE 'invite:%')
       RETURNING count`,
    );
    // The attempts of the others are not counted.
    expect(row?.count).toBe(99);
    expect((await invite(owner.visitor, newEmail())).status).toBe(200);
    expect((await invite(owner.visitor, newEmail())).status).toBe(429);
    expect((await invite(stranger.visitor, newEmail())).status).toBe(200);
  });

  test('name their workspace in lower case only, so that no other spelling avoids the limits', async () => {
    const workspace = await silent.fixture.createWorkspace();
    const { visitor } = await signInAs(silent.service, workspace, 'owner');
    const email = newEmail();
    const id = workspace.id.toUpperCase();
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await invite(visitor, email, id)).status);
    expect(statuses).toEqual([400, 400, 400, 400]);
    expect((await visitor.get('/invitations')).json()).toEqual([]);
  });

  test('are created without a mail after 5 mails to the address from other workspaces in a day', async () => {
    const email = newEmail();
    const visitors = await Promise.all(Array.from({ length: 6 }, () => confirmedVisitor()));
    const mailed: boolean[] = [];
    for (const visitor of visitors) {
      const answer = await invite(visitor, email);
      expect(answer.status).toBe(200);
      mailed.push(answer.json<{ mailed: boolean }>().mailed);
    }
    expect(mailed).toEqual([true, true, true, true, true, false]);
  });

  test.for(['Visit https://evil.example', 'www.evil.example', 'Win at evil.com', 'Free: evil。com/prize'])(
    'cannot carry a web address: the name "%s" of a person or a workspace is rejected',
    async (name) => {
      const { visitor } = await signInAs(silent.service, await silent.fixture.createWorkspace(), 'owner');
      const body = { name, email: newEmail(), password };
      expect((await new Visitor(silent.service).account('/sign-up/email', body)).status).toBe(400);
      expect((await visitor.account('/update-user', { name })).status).toBe(400);
      expect((await visitor.send('POST', '/console/workspaces', { name })).status).toBe(400);
      expect((await visitor.send('PATCH', '/console/workspace', { name })).status).toBe(400);
    },
  );

  test.for(['Dr. Grace B. Hopper', "O'Brien & Söhne GmbH", 'Acme 2.0', 'J.R.R. Tolkien'])(
    'accept the name "%s"',
    async (name) => {
      const { visitor } = await signInAs(silent.service, await silent.fixture.createWorkspace(), 'owner');
      expect((await visitor.account('/update-user', { name })).status).toBe(200);
      expect((await visitor.send('PATCH', '/console/workspace', { name })).status).toBe(200);
    },
  );
});

describe('guesses of a password', () => {
  const signUp = async () => {
    const email = newEmail();
    const browser = new Visitor(silent.service);
    await browser.signUp(email);
    return { email, browser };
  };
  const guess = async (email: string) => {
    const { status, headers, text } = await new Visitor(silent.service).signIn(email, 'a wrong guess');
    return { status, text, retryAfter: Number(headers['retry-after'] ?? 0), cookies: headers['set-cookie'] };
  };
  const keyOf = (email: string) => `stranger:${createHash('sha256').update(email).digest('base64url')}`;
  /** Leaves the account with so many guesses by strangers that each further guess needs a pause of 5 minutes. */
  const attack = async (email: string) => {
    await guess(email);
    await silent.fixture.sql('UPDATE attempt SET count = 25 WHERE key = $1', [keyOf(email)]);
  };

  test('need a pause after 10 of them, which grows to 5 minutes and is the same for an unknown address', async () => {
    for (const { email } of [await signUp(), { email: newEmail() }]) {
      await guess(email);
      const set = (count: number, secondsAgo: number) =>
        silent.fixture.sql(
          `UPDATE attempt SET count = $1, since = now() - $2 * interval '1 second' WHERE key = $3`,
          [count, secondsAgo, keyOf(email)],
        );
      await set(9, 0);
      expect((await guess(email)).status).toBe(401);
      // The pause doubles with each guess: it is 64 s after 16 guesses.
      await set(16, 20);
      const early = await guess(email);
      expect(early).toMatchObject({ status: 429, cookies: undefined });
      expect(early.retryAfter).toBeLessThanOrEqual(44);
      await set(16, 70);
      expect((await guess(email)).status).toBe(401);
      await set(1_000, 0);
      const late = await guess(email);
      expect(late.status).toBe(429);
      expect(late.retryAfter).toBeGreaterThan(200);
      expect(late.retryAfter).toBeLessThanOrEqual(300);
      await set(1_000, 301);
      expect((await guess(email)).status).toBe(401);
    }
  });

  test('do not lock out a known browser, and its own guesses need pauses, too', async () => {
    const { email, browser } = await signUp();
    await attack(email);
    await browser.account('/sign-out');
    expect((await browser.signIn(email, 'a wrong guess')).status).toBe(401);
    expect((await browser.signIn(email)).status).toBe(200);

    await browser.signIn(email, 'a wrong guess');
    await silent.fixture.sql(
      `UPDATE attempt SET count = 25 WHERE since = (SELECT max(since) FROM attempt WHERE key LIKE 'browser:%')`,
    );
    expect((await browser.signIn(email)).status).toBe(429);
    // The cookie of another account is not valid for this one.
    const { browser: stranger } = await signUp();
    expect((await stranger.signIn(email)).status).toBe(429);
  });

  test('are answered with 429 during the pause even if they are correct', async () => {
    const { email } = await signUp();
    await attack(email);
    const stranger = new Visitor(silent.service);
    const correct = await stranger.signIn(email);
    const wrong = await guess(email);
    expect([correct.status, correct.text, correct.headers['set-cookie']]).toEqual([
      429,
      wrong.text,
      undefined,
    ]);
    expect((await stranger.get('/me')).status).toBe(401);
  });

  test('do not lock out the correct password with a second factor', async () => {
    const { email, browser } = await signUp();
    const { secret } = await browser.addSecondFactor();
    await attack(email);
    expect((await guess(email)).status).toBe(429);
    const phone = new Visitor(silent.service);
    expect((await phone.signIn(email)).json()).toMatchObject({ twoFactorRedirect: true });
    expect((await phone.get('/me')).status).toBe(401);
    const code = totp(secret, Date.now() + 30_000);
    expect((await phone.account('/two-factor/verify-totp', { code })).status).toBe(200);
    expect((await phone.get('/me')).status).toBe(200);
  });

  test('do not lock out a browser that has opened a password link', async () => {
    const { email } = await signUp();
    await attack(email);
    const { stdout } = await runLeads(['user', 'password-link', '--email', email, '--json'], {
      DATABASE_URL: silent.databaseUrl,
      JWT_SECRET: jwtSecret,
    });
    const { link } = JSON.parse(stdout) as { link: string };
    const phone = new Visitor(silent.service);
    const body = { token: tokenOf(link), newPassword: 'another good phrase' };
    expect((await phone.account('/reset-password', body)).status).toBe(200);
    expect((await phone.signIn(email, 'another good phrase')).status).toBe(200);
  });

  test('are no longer counted after the correct password', async () => {
    const { email, browser } = await signUp();
    const counts = () =>
      silent.fixture.sql(
        `SELECT count FROM attempt
         WHERE key IN ($1, 'user:' || (SELECT id FROM "user" WHERE email = $2))`,
        [keyOf(email), email],
      );
    await guess(email);
    await browser.account('/confirm-password', { password: 'a wrong guess' });
    expect(await counts()).toEqual([{ count: 1 }, { count: 1 }]);
    expect((await new Visitor(silent.service).signIn(email)).status).toBe(200);
    expect(await counts()).toEqual([{ count: 1 }]);
    expect((await browser.account('/confirm-password', { password })).status).toBe(200);
    expect(await counts()).toEqual([]);
  });

  test('in a session need pauses of their own', async () => {
    const { browser } = await signUp();
    const wrong = { currentPassword: 'a wrong guess', newPassword: 'another good phrase' };
    expect((await browser.account('/change-password', wrong)).status).toBe(400);
    await silent.fixture.sql(
      `UPDATE attempt SET count = 25 WHERE since = (SELECT max(since) FROM attempt WHERE key LIKE 'user:%')`,
    );
    for (const path of ['/two-factor/enable', '/two-factor/disable', '/two-factor/generate-backup-codes']) {
      expect((await browser.account(path, { password })).status).toBe(429);
    }
    expect((await browser.account('/change-password', wrong)).status).toBe(429);
  });
});

describe('a new password', () => {
  const signUp = (service: Crm['service'], chosen: string, name = 'Ada Lovelace') =>
    new Visitor(service).account('/sign-up/email', { name, email: newEmail(), password: chosen });
  const refused = (message: string) => [400, { success: false, error: 'validation', message }];
  const easy = refused('This password is easy to guess: choose another one');

  test('that is common or made of the name of the user is rejected at sign-up, change and reset', async () => {
    for (const chosen of ['Password123', 'qwertyuiop', 'Lovelace-1815', 'Leads 2026!']) {
      const answer = await signUp(silent.service, chosen);
      expect([answer.status, answer.json()]).toEqual(easy);
    }
    const email = newEmail();
    const visitor = new Visitor(silent.service);
    await visitor.signUp(email);
    const change = { currentPassword: password, newPassword: 'P4ssw0rd!!' };
    const changed = await visitor.account('/change-password', change);
    expect([changed.status, changed.json()]).toEqual(easy);
    const { stdout } = await runLeads(['user', 'password-link', '--email', email, '--json'], {
      DATABASE_URL: silent.databaseUrl,
      JWT_SECRET: jwtSecret,
    });
    const token = tokenOf((JSON.parse(stdout) as { link: string }).link);
    const reset = await visitor.account('/reset-password', { token, newPassword: 'Password123' });
    expect([reset.status, reset.json()]).toEqual(easy);
    // The link was not used.
    const next = { token, newPassword: 'another good phrase' };
    expect((await visitor.account('/reset-password', next)).status).toBe(200);
  });

  test('that is in a breach is rejected if the operator names a service, which gets 5 digits of its hash', async () => {
    const breached = 'breached horse battery';
    const hash = createHash('sha1').update(breached).digest('hex').toUpperCase();
    const asked: string[] = [];
    let status = 200;
    const service = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(status).end(`${'0'.repeat(35)}:0\r\n${hash.slice(5)}:12\r\n`);
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const checking = await startCrm({ BREACHED_PASSWORDS_URL: url });
    try {
      const answer = await signUp(checking.service, breached);
      expect([answer.status, answer.json()]).toEqual(
        refused('This password is known from a data breach: choose another one'),
      );
      expect(asked).toEqual([`/range/${hash.slice(0, 5)}`]);
      expect((await signUp(checking.service, password)).status).toBe(200);
      // An unavailable service does not prevent a sign-up.
      status = 503;
      expect((await signUp(checking.service, breached)).status).toBe(200);
    } finally {
      await checking[Symbol.asyncDispose]();
      service.close();
    }
  });

  test.each(['reset', 'change'] as const)(
    'ends the session of a sign-in with the old password at the time of its %s',
    async (way) => {
      const owner = new Visitor(silent.service);
      const email = newEmail();
      await owner.signUp(email);
      let compared = () => {};
      let changed = () => {};
      const hasCompared = new Promise<void>((resolve) => (compared = resolve));
      const hasChanged = new Promise<void>((resolve) => (changed = resolve));
      const passwordHash = {
        ...cheapHash,
        async verify(data: { hash: string; password: string }) {
          const isCorrect = await cheapHash.verify(data);
          compared();
          await hasChanged;
          return isCorrect;
        },
      };
      await using slow = await startCrmService(silent.databaseUrl, {}, { passwordHash });
      const stranger = new Visitor(slow);
      const signingIn = stranger.signIn(email);
      await hasCompared;
      const newPassword = 'another good phrase';
      let answer: Answer;
      if (way === 'reset') {
        const { stdout } = await runLeads(['user', 'password-link', '--email', email, '--json'], {
          DATABASE_URL: silent.databaseUrl,
          JWT_SECRET: jwtSecret,
        });
        const token = tokenOf((JSON.parse(stdout) as { link: string }).link);
        answer = await owner.account('/reset-password', { token, newPassword });
      } else {
        const change = { currentPassword: password, newPassword, revokeOtherSessions: true };
        answer = await owner.account('/change-password', change);
      }
      expect(answer.status).toBe(200);
      changed();
      expect((await signingIn).status).toBe(401);
      expect((await stranger.get('/me')).status).toBe(401);
      const sessions = await silent.fixture.sql(
        'SELECT FROM session WHERE user_id = (SELECT id FROM "user" WHERE email = $1)',
        [email],
      );
      expect(sessions).toHaveLength(way === 'reset' ? 0 : 1);
    },
  );

  test('revokes the keys and tokens of the user in all workspaces if the user asks for it', async () => {
    const [first, second] = [await silent.fixture.createWorkspace(), await silent.fixture.createWorkspace()];
    const email = newEmail();
    const visitor = new Visitor(silent.service);
    await visitor.signUp(email);
    const own = await Promise.all(
      [first, second].map((workspace) => workspace.addMember('manager', { email })),
    );
    const other = await first.addMember('manager');
    const statusesOf = (members: readonly (typeof other)[]) =>
      Promise.all(
        members.map(async ({ headers }) => {
          const { status } = await silent.service.send({ path: '/api/v1/order/leads', headers });
          return status;
        }),
      );
    const change = (currentPassword: string, next: string, revokeCredentials?: boolean) =>
      visitor.account('/change-password', {
        currentPassword,
        newPassword: next,
        ...(revokeCredentials !== undefined && { revokeCredentials }),
      });
    expect((await change(password, 'another good phrase')).status).toBe(200);
    expect((await change('a wrong guess', 'one more good phrase', true)).status).toBe(400);
    expect(await statusesOf([...own, other])).toEqual([200, 200, 200]);
    expect((await change('another good phrase', 'one more good phrase', true)).status).toBe(200);
    await expect.poll(() => statusesOf(own)).toEqual([401, 401]);
    expect(await statusesOf([other])).toEqual([200]);
  });
});

describe('a session that is older than 10 minutes', () => {
  const signInOld = async () => {
    const workspace = await silent.fixture.createWorkspace();
    const { visitor, member } = await signInAs(silent.service, workspace, 'owner');
    const other = await signInAs(silent.service, workspace, 'publisher');
    const [row] = await silent.fixture.sql<{ id: string }>(
      'SELECT id FROM member WHERE workspace_id = $1 AND user_id = $2',
      [workspace.id, other.member.userId],
    );
    const key = await visitor.send('POST', '/console/api-keys', { name: 'A key to rotate' });
    const { record } = key.json<{ record: { id: string } }>();
    const makeOld = () =>
      silent.fixture.sql(`UPDATE session SET created_at = now() - interval '11 minutes' WHERE user_id = $1`, [
        member.userId,
      ]);
    const problemJson = { Accept: 'application/problem+json' };
    const actions = {
      'create a key': () => visitor.send('POST', '/console/api-keys', { name: 'A key' }, problemJson),
      'rotate a key': () => visitor.send('POST', `/console/api-keys/${record.id}/rotate`, {}, problemJson),
      'create a token': () =>
        visitor.send('POST', '/console/access-tokens', { name: 'A token' }, problemJson),
      'make a member an owner': () =>
        visitor.send(
          'POST',
          '/auth/organization/update-member-role',
          { memberId: row?.id, role: 'owner', organizationId: workspace.id },
          problemJson,
        ),
      'invite an owner': () =>
        visitor.send(
          'POST',
          '/auth/organization/invite-member',
          { email: newEmail(), role: 'owner', organizationId: workspace.id },
          problemJson,
        ),
    };
    return { workspace, visitor, makeOld, actions: Object.entries(actions) };
  };
  const statusesOf = async (actions: Awaited<ReturnType<typeof signInOld>>['actions']) => {
    const statuses: [string, number, unknown][] = [];
    for (const [name, act] of actions) {
      const answer = await act();
      statuses.push([name, answer.status, answer.json<{ type?: string }>().type]);
    }
    return statuses;
  };
  const required = 'urn:leads:error:confirmation_required';

  test('needs the password before it creates a credential or an owner, and then has a new cookie', async () => {
    const { workspace, visitor, makeOld, actions } = await signInOld();
    await makeOld();
    expect(await statusesOf(actions)).toEqual(actions.map(([name]) => [name, 403, required]));
    // Other actions need no confirmation.
    const publisher = { email: newEmail(), role: 'publisher', organizationId: workspace.id };
    expect((await visitor.account('/organization/invite-member', publisher)).status).toBe(200);
    expect((await visitor.account('/confirm-password', { password: 'a wrong guess' })).status).toBe(400);
    expect(await statusesOf(actions)).toEqual(actions.map(([name]) => [name, 403, required]));
    const before = visitor.cookies.get('leads.session_token') ?? '';
    expect((await visitor.account('/confirm-password', { password })).status).toBe(200);
    expect(await statusesOf(actions)).toEqual(actions.map(([name]) => [name, 200, undefined]));
    const thief = new Visitor(silent.service);
    thief.setCookie('leads.session_token', before);
    expect((await thief.get('/me')).status).toBe(401);
  });

  test('can be confirmed by the second factor, and needs the password to switch it off', async () => {
    const { visitor, makeOld, actions } = await signInOld();
    const { secret } = await visitor.addSecondFactor();
    await makeOld();
    expect(await statusesOf(actions)).toEqual(actions.map(([name]) => [name, 403, required]));
    expect((await visitor.account('/two-factor/disable', {})).status).toBe(400);
    expect((await visitor.account('/two-factor/disable', { password: 'a wrong guess' })).status).toBe(400);
    const code = totp(secret, Date.now() + 30_000);
    expect((await visitor.account('/two-factor/verify-totp', { code })).status).toBe(200);
    expect(await statusesOf(actions)).toEqual(actions.map(([name]) => [name, 200, undefined]));
  });
});

test('every id in the body of an account path is rejected unless it is in lower case', async () => {
  const { visitor } = await signInAs(silent.service, await silent.fixture.createWorkspace(), 'owner');
  const ids = Object.entries(libraryPaths.POST).flatMap(([path, { body }]) =>
    Object.keys(body?.properties ?? {}).flatMap((name) => (/Id/.test(name) ? [[path, name] as const] : [])),
  );
  expect(ids.length).toBeGreaterThan(8);
  for (const [path, name] of ids) {
    const body = { [name]: randomUUID().toUpperCase() };
    const headers = { Accept: 'application/problem+json' };
    const answer = await visitor.send('POST', `/auth${path}`, body, headers);
    const errors = answer.json<{ errors?: object[] }>().errors;
    expect([path, answer.status, errors]).toEqual([
      path,
      400,
      expect.arrayContaining([{ pointer: `#/${name}`, detail: 'must be a UUID in lower case' }]),
    ]);
  }
});
