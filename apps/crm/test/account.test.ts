import { randomUUID, scryptSync } from 'node:crypto';
import { jwtSecret } from '@leads/test-kit/fixture';
import { type Inbox, linkIn, openInbox } from '@leads/test-kit/inbox';
import { totp } from '@leads/test-kit/totp';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runLeads } from './command-line.ts';
import { type Crm, startCrm, startCrmService } from './crm.ts';
import { password, signInAs, Visitor } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;

interface Me {
  user: { id: string; name: string; email: string };
  sessionId: string;
  workspace?: { id: string; name: string; role: string };
  workspaces: { id: string }[];
}
const meOf = async (visitor: Visitor) => (await visitor.get('/me')).json<Me>();
/** Creates a password link by the command line, as an operator does. */
async function passwordLink(email: string, env: NodeJS.ProcessEnv): Promise<string> {
  const args = ['user', 'password-link', '--email', email, '--json'];
  const { stdout } = await runLeads(args, { JWT_SECRET: jwtSecret, ...env });
  return (JSON.parse(stdout) as { link: string }).link;
}
/** Returns the token of a password link. */
async function passwordToken(email: string, databaseUrl: string): Promise<string | null> {
  const link = await passwordLink(email, { DATABASE_URL: databaseUrl });
  return new URL(link).searchParams.get('token');
}
const newEmail = () => `${randomUUID()}@example.com`;

describe('sign-up', () => {
  test('stores a password as a hash of scrypt with N = 16384, r = 16 and p = 1', async () => {
    await using deployed = await startCrmService(crm.databaseUrl, {}, {});
    const email = newEmail();
    expect((await new Visitor(deployed).signUp(email)).status).toBe(200);
    const [row] = await fixture.sql<{ password: string }>(
      'SELECT account.password FROM account JOIN "user" ON "user".id = user_id WHERE email = $1',
      [email],
    );
    const [salt = '', key] = row?.password.split(':') ?? [];
    expect(salt).toMatch(/^[0-9a-f]{32}$/);
    const cost = { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 };
    expect(scryptSync(password, salt, 64, cost).toString('hex')).toBe(key);
  });

  test('creates an account and a workspace with a default campaign, and signs the user in', async () => {
    const visitor = new Visitor(service);
    const email = newEmail();
    const answer = await visitor.signUp(email.toUpperCase());
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ signedIn: true, user: { email } });
    const me = await meOf(visitor);
    expect(me).toMatchObject({
      user: { email, name: 'Test Person' },
      workspace: { name: "Test Person's workspace", role: 'owner' },
    });
    expect(me.workspaces).toHaveLength(1);
    const campaigns = (await visitor.get('/campaigns')).json<object[]>();
    expect(campaigns).toEqual([expect.objectContaining({ code: 'default', isDefault: true })]);
  });

  test('sets the session token in an HttpOnly cookie, and no response body contains it', async () => {
    const visitor = new Visitor(service);
    const answer = await visitor.signUp();
    const [line = '', ...more] = visitor.setCookies;
    expect(more).toEqual([expect.stringMatching(/^leads\.known_browser=[^;]+; .*HttpOnly/)]);
    expect(line).toMatch(/^leads\.session_token=[^;]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/);
    const token = decodeURIComponent(visitor.cookies.get('leads.session_token') ?? '').split('.')[0] ?? '';
    expect(token).toHaveLength(32);
    expect(answer.text).not.toContain(token);
    expect((await visitor.get('/sessions')).text).not.toContain(token);
  });

  test('rejects an invalid field with 400, names the field and creates no user', async () => {
    const visitor = new Visitor(service);
    const before = await fixture.sql('SELECT id FROM "user"');
    for (const [field, body] of [
      ['email', { name: 'x', email: 'no address', password }],
      ['password', { name: 'x', email: newEmail(), password: 'too short' }],
      ['password', { name: 'x', email: newEmail(), password: 'x'.repeat(129) }],
      ['name', { name: '', email: newEmail(), password }],
      ['role', { name: 'x', email: newEmail(), password, role: 'owner' }],
      ['emailVerified', { name: 'x', email: newEmail(), password, emailVerified: true }],
    ] as const) {
      const answer = await visitor.send('POST', '/auth/sign-up/email', body, {
        Accept: 'application/problem+json',
      });
      expect(answer.status).toBe(400);
      expect(answer.json<{ errors: object[] }>().errors).toEqual([
        expect.objectContaining({ pointer: `#/${field}` }),
      ]);
    }
    expect(await fixture.sql('SELECT id FROM "user"')).toHaveLength(before.length);
  });

  test('lets a user that an operator created set the first password through a link that works once', async () => {
    const { owner } = await fixture.createWorkspace();
    const email = owner.email;
    const visitor = new Visitor(service);
    expect((await visitor.signIn(email)).status).toBe(401);
    const link = await passwordLink(email, {
      DATABASE_URL: crm.databaseUrl,
      PUBLIC_URL: 'https://leads.example',
    });
    expect(link).toMatch(/^https:\/\/leads\.example\/reset-password\?token=\w+$/);
    const token = new URL(link).searchParams.get('token');
    expect((await visitor.account('/reset-password', { token, newPassword: password })).status).toBe(200);
    expect((await visitor.signIn(email)).status).toBe(200);
    expect((await meOf(visitor)).workspace).toMatchObject({ role: 'owner' });
    const secondReset = await visitor.account('/reset-password', { token, newPassword: 'another password' });
    expect([secondReset.status, secondReset.json()]).toEqual([
      400,
      {
        success: false,
        error: 'validation',
        message: 'This link was used before or has expired: ask for a new one',
      },
    ]);
  });
});

describe('sign-in', () => {
  test('returns the same 401 for an unknown email address and for a wrong password', async () => {
    const email = newEmail();
    await new Visitor(service).signUp(email);
    const answers = await Promise.all([
      new Visitor(service).signIn(email, 'wrong password'),
      new Visitor(service).signIn(newEmail(), 'wrong password'),
    ]);
    for (const answer of answers) {
      expect([answer.status, answer.json()]).toEqual([
        401,
        { success: false, error: 'unauthorized', message: 'The email address or the password is wrong' },
      ]);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  test('and other account requests name the wrong field and the fix', async () => {
    const email = newEmail();
    const visitor = new Visitor(service);
    await visitor.signUp(email);
    const organizationId = (await meOf(visitor)).workspace?.id;
    const newPassword = 'another good phrase';
    for (const [path, body, status, field, reason] of [
      [
        '/sign-up/email',
        { name: 'Ada', email, password },
        400,
        'email',
        'belongs to an account: sign in, or use another email address',
      ],
      [
        '/change-password',
        { currentPassword: 'wrong password', newPassword },
        400,
        'currentPassword',
        'is wrong',
      ],
      ['/confirm-password', { password: 'wrong password' }, 400, 'password', 'is wrong'],
      [
        '/change-password',
        { currentPassword: password, newPassword: 'password1234' },
        400,
        'newPassword',
        'is easy to guess: choose another one',
      ],
      [
        '/organization/invite-member',
        { email, role: 'manager', organizationId },
        400,
        'email',
        'belongs to a member of this workspace',
      ],
    ] as const) {
      const answer = await visitor.send('POST', `/auth${path}`, body, { Accept: 'application/problem+json' });
      expect([path, answer.status, answer.json<{ errors?: unknown }>().errors]).toEqual([
        path,
        status,
        [{ pointer: `#/${field}`, detail: reason }],
      ]);
    }
  });

  test('issues a new session token even if the client sends one', async () => {
    const email = newEmail();
    const mallory = new Visitor(service);
    await mallory.signUp();
    const planted = mallory.cookies.get('leads.session_token') ?? '';
    const victim = new Visitor(service);
    victim.setCookie('leads.session_token', planted);
    await victim.signUp(email);
    const fresh = victim.cookies.get('leads.session_token');
    expect(fresh).toBeDefined();
    expect(fresh).not.toBe(planted);
    expect((await meOf(mallory)).user.email).not.toBe(email);

    const chosen = new Visitor(service);
    chosen.setCookie('leads.session_token', 'x'.repeat(32));
    await chosen.signIn(email);
    expect(chosen.cookies.get('leads.session_token')).not.toContain('x'.repeat(32));
    expect((await meOf(chosen)).user.email).toBe(email);
  });
});

describe('a session', () => {
  test('ends on the server at sign-out, not only in the cookies of the browser', async () => {
    const visitor = new Visitor(service);
    await visitor.signUp();
    const cookie = visitor.cookies.get('leads.session_token') ?? '';
    await visitor.account('/sign-out');
    expect(visitor.cookies.has('leads.session_token')).toBe(false);
    const thief = new Visitor(service);
    thief.setCookie('leads.session_token', cookie);
    expect((await thief.get('/me')).status).toBe(401);
  });

  test('is rejected with 401 if 1 character of its cookie was changed', async () => {
    const visitor = new Visitor(service);
    await visitor.signUp();
    const cookie = decodeURIComponent(visitor.cookies.get('leads.session_token') ?? '');
    for (const at of [0, 20, cookie.length - 5]) {
      const forged = new Visitor(service);
      const changed = `${cookie.slice(0, at)}${cookie[at] === 'a' ? 'b' : 'a'}${cookie.slice(at + 1)}`;
      forged.setCookie('leads.session_token', encodeURIComponent(changed));
      expect((await forged.get('/me')).status).toBe(401);
    }
  });

  test('is listed and revoked by its own user; another user gets 404', async () => {
    const email = newEmail();
    const [firstDevice, secondDevice, stranger] = [
      new Visitor(service),
      new Visitor(service),
      new Visitor(service),
    ];
    await firstDevice.signUp(email);
    await secondDevice.signIn(email);
    await stranger.signUp();
    const sessions = (await firstDevice.get('/sessions')).json<{ id: string; current: boolean }[]>();
    expect(sessions.map(({ current }) => current)).toEqual([false, true]);
    const other = sessions[0]?.id;
    expect((await stranger.send('DELETE', `/console/sessions/${other}`)).status).toBe(404);
    expect((await secondDevice.get('/me')).status).toBe(200);
    expect((await firstDevice.send('DELETE', `/console/sessions/${other}`)).status).toBe(200);
    expect((await secondDevice.get('/me')).status).toBe(401);
    expect((await firstDevice.get('/me')).status).toBe(200);
  });

  test('ends if another session changes the password, and the other session stays in its workspace', async () => {
    const email = newEmail();
    const [firstDevice, secondDevice] = [new Visitor(service), new Visitor(service)];
    await firstDevice.signUp(email);
    const { workspace } = (await firstDevice.send('POST', '/console/workspaces', { name: 'Another' })).json<{
      workspace: { id: string };
    }>();
    await firstDevice.account('/organization/set-active', { organizationId: workspace.id });
    await secondDevice.signIn(email);
    const wrong = await firstDevice.account('/change-password', {
      currentPassword: 'wrong password',
      newPassword: 'another password',
      revokeOtherSessions: true,
    });
    expect(wrong.status).toBe(400);
    const change = { currentPassword: password, newPassword: 'another password', revokeOtherSessions: true };
    expect((await firstDevice.account('/change-password', change)).status).toBe(200);
    expect((await secondDevice.get('/me')).status).toBe(401);
    expect((await firstDevice.get('/me')).json()).toMatchObject({ workspace: { id: workspace.id } });
    expect((await new Visitor(service).signIn(email)).status).toBe(401);
    expect((await new Visitor(service).signIn(email, 'another password')).status).toBe(200);
  });
});

describe('rate limiting', () => {
  test('rejects attempts with 429 after 100 from an IPv4 address or from the /64 block of an IPv6 address', async () => {
    const throttled = await startCrm({ TRUST_PROXY: 'loopback' });
    // Of all values to guess, a reset token costs the service the least work.
    const attempt = (from: string) =>
      new Visitor(throttled.service).send(
        'POST',
        '/auth/reset-password',
        { token: 'a wrong guess', newPassword: password },
        { 'X-Forwarded-For': from },
      );
    try {
      for (const [addressOf, sameBlock, other] of [
        [() => '203.0.113.7', '203.0.113.7', '203.0.113.8'],
        [(count: number) => `2001:db8:1:2:${count}::1`, '2001:db8:1:2:ffff::1', '2001:db8:1:3::1'],
      ] as const) {
        const answers = await Promise.all(
          Array.from({ length: 110 }, (_, count) => attempt(addressOf(count))),
        );
        const statuses = answers.map(({ status }) => status);
        expect(statuses.filter((status) => status === 400)).toHaveLength(100);
        expect(statuses.filter((status) => status === 429)).toHaveLength(10);
        expect((await attempt(sameBlock)).status).toBe(429);
        expect((await attempt(other)).status).toBe(400);
      }
    } finally {
      await throttled[Symbol.asyncDispose]();
    }
  });
});

describe('a second factor', () => {
  test('is required after the password, cannot be replaced, and a recovery code works once', async () => {
    const email = newEmail();
    const owner = new Visitor(service);
    await owner.signUp(email);
    const { secret, code, backupCodes } = await owner.addSecondFactor();

    const replaced = await owner.account('/two-factor/enable', { password });
    expect([replaced.status, replaced.json()]).toMatchObject([
      400,
      { message: 'The account has a second factor already: switch it off first' },
    ]);

    const visitor = new Visitor(service);
    const first = await visitor.signIn(email);
    expect([first.status, first.json()]).toEqual([200, expect.objectContaining({ twoFactorRedirect: true })]);
    expect((await visitor.get('/me')).status).toBe(401);
    expect((await visitor.account('/two-factor/verify-totp', { code: '000000' })).status).toBe(401);
    // RFC 6238, 5.2: a code is accepted once. The next code is accepted 30 s early.
    const again = await visitor.account('/two-factor/verify-totp', { code });
    expect([again.status, again.json()]).toEqual([
      401,
      expect.objectContaining({
        message: 'The code is wrong or was used before: enter the current code of the app',
      }),
    ]);
    const nextCode = totp(secret, Date.now() + 30_000);
    expect((await visitor.account('/two-factor/verify-totp', { code: nextCode })).status).toBe(200);
    expect((await visitor.get('/me')).status).toBe(200);

    const [backupCode = ''] = backupCodes;
    for (const status of [200, 401]) {
      const another = new Visitor(service);
      await another.signIn(email);
      expect((await another.account('/two-factor/verify-backup-code', { code: backupCode })).status).toBe(
        status,
      );
    }
    const stored = await fixture.sql<{ secret: string; backup_codes: string }>('SELECT * FROM two_factor');
    for (const row of stored) {
      expect(row.secret).not.toContain(secret);
      for (const each of backupCodes) expect(row.backup_codes).not.toContain(each);
    }
  });

  test('accepts a recovery code once if several sign-ins use it at the same time', async () => {
    const email = newEmail();
    const owner = new Visitor(service);
    await owner.signUp(email);
    const [code = ''] = (await owner.addSecondFactor()).backupCodes;
    const visitors = Array.from({ length: 4 }, () => new Visitor(service));
    for (const visitor of visitors) await visitor.signIn(email);
    // Both read the codes before one of them removes the code.
    const release = await fixture.holdTable('two_factor', 'EXCLUSIVE');
    const answers = visitors.map((visitor) => visitor.account('/two-factor/verify-backup-code', { code }));
    await expect.poll(() => fixture.countBlocked('%two_factor%'), { timeout: 30_000 }).toBe(4);
    await release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400]);
  });

  test('says what to do after 5 wrong codes of a sign-in, and when to sign in again after 10', async () => {
    // The attempts of an address are limited, and the other tests need theirs.
    await using separate = await startCrm();
    const email = newEmail();
    const owner = new Visitor(separate.service);
    await owner.signUp(email);
    const { secret } = await owner.addSecondFactor();
    const verify = (visitor: Visitor, code: string) => visitor.account('/two-factor/verify-totp', { code });
    let visitor = new Visitor(separate.service);
    for (let count = 0; count < 10; count += 1) {
      if (count % 5 === 0) {
        visitor = new Visitor(separate.service);
        await visitor.signIn(email);
      }
      expect((await verify(visitor, `10000${count}`)).status).toBe(401);
      if (count !== 4) continue;
      const sixth = await verify(visitor, '200000');
      expect([sixth.status, sixth.json()]).toMatchObject([
        400,
        { message: 'Too many wrong codes: sign in with your password again' },
      ]);
    }
    await visitor.signIn(email);
    const locked = await verify(visitor, totp(secret, Date.now() + 30_000));
    expect([locked.status, locked.json()]).toMatchObject([
      429,
      { message: 'Too many wrong codes: wait up to 15 minutes, then sign in with your password again' },
    ]);
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(800);
    expect(Number(locked.headers['retry-after'])).toBeLessThanOrEqual(900);
  });

  test('that was switched off and set up again is required in a browser that an earlier one trusted', async () => {
    const email = newEmail();
    const owner = new Visitor(service);
    await owner.signUp(email);
    const { secret } = await owner.addSecondFactor();
    const trusted = new Visitor(service);
    await trusted.signIn(email);
    const code = totp(secret, Date.now() + 30_000);
    const verified = await trusted.account('/two-factor/verify-totp', { code, trustDevice: true });
    expect(verified.status).toBe(200);
    await trusted.account('/sign-out');
    expect((await trusted.signIn(email)).json()).toMatchObject({ signedIn: true });
    await trusted.account('/sign-out');

    expect((await owner.account('/two-factor/disable', { password })).status).toBe(200);
    await owner.addSecondFactor();
    expect((await trusted.signIn(email)).json()).toMatchObject({ twoFactorRedirect: true });
  });

  test.each(['change', 'reset'])(
    'does not complete a sign-in that began before a %s of the password',
    async (how) => {
      const email = newEmail();
      const owner = new Visitor(service);
      await owner.signUp(email);
      const { secret } = await owner.addSecondFactor();
      const visitor = new Visitor(service);
      expect((await visitor.signIn(email)).json()).toMatchObject({ twoFactorRedirect: true });

      const newPassword = 'another password';
      const answer =
        how === 'change'
          ? owner.account('/change-password', { currentPassword: password, newPassword })
          : owner.account('/reset-password', {
              token: await passwordToken(email, crm.databaseUrl),
              newPassword,
            });
      expect((await answer).status).toBe(200);
      // RFC 6238, 5.2: a code is accepted once. The next code is accepted 30 s early.
      const code = totp(secret, Date.now() + 30_000);
      expect((await visitor.account('/two-factor/verify-totp', { code })).status).toBe(401);
      expect((await visitor.signIn(email, newPassword)).json()).toMatchObject({ twoFactorRedirect: true });
      expect((await visitor.account('/two-factor/verify-totp', { code })).status).toBe(200);
    },
  );

  test('that another JWT_SECRET encrypted cannot be checked, and the error names the command that removes it', async () => {
    const user = new Visitor(service);
    const email = newEmail();
    await user.signUp(email);
    const { secret, backupCodes } = await user.addSecondFactor();

    await using rotated = await startCrmService(crm.databaseUrl, { JWT_SECRET: 'x'.repeat(32) });
    const visitor = new Visitor(rotated);
    expect((await visitor.signIn(email)).json()).toMatchObject({ twoFactorRedirect: true });
    for (const [path, code] of [
      ['/two-factor/verify-totp', totp(secret, Date.now() + 30_000)],
      ['/two-factor/verify-backup-code', backupCodes[0]],
    ] as const) {
      const answer = await visitor.account(path, { code });
      expect([answer.status, answer.json()]).toEqual([
        400,
        expect.objectContaining({
          message: expect.stringContaining('leads user reset-second-factor'),
        }),
      ]);
    }

    const args = ['user', 'reset-second-factor', '--email', email];
    expect((await runLeads(args, { DATABASE_URL: crm.databaseUrl })).code).toBe(0);
    const again = new Visitor(rotated);
    expect((await again.signIn(email)).json()).toMatchObject({ signedIn: true });
    expect((await user.get('/me')).status).toBe(401);
    expect((await again.account('/two-factor/enable', { password })).status).toBe(200);
  });
});

describe('ALLOW_SIGN_UP=false', () => {
  let invitationOnlyCrm: Crm;
  beforeAll(async () => {
    invitationOnlyCrm = await startCrm({ ALLOW_SIGN_UP: 'false' });
  });
  afterAll(() => invitationOnlyCrm[Symbol.asyncDispose]());

  test('allows sign-up by invitation only, for the invited email address, workspace and role', async () => {
    const visitor = new Visitor(invitationOnlyCrm.service);
    expect((await visitor.get('/features')).json()).toMatchObject({ signUp: false });
    const refused = {
      success: false,
      error: 'unauthorized',
      message: 'Sign-up is by invitation only',
    };
    const stranger = await visitor.signUp();
    expect([stranger.status, stranger.json()]).toEqual([403, refused]);
    const body = { name: 'Ada', email: newEmail(), password };
    const headers = { Accept: 'application/problem+json' };
    const problem = await visitor.send('POST', '/auth/sign-up/email', body, headers);
    expect(problem.json()).toMatchObject({ type: 'urn:leads:error:invitation_required' });

    // The invitation is inserted directly, since the owner has no password yet and cannot sign in.
    const workspace = await invitationOnlyCrm.fixture.createWorkspace();
    const email = newEmail();
    const [{ id: invitationId } = { id: '' }] = await invitationOnlyCrm.fixture.sql<{ id: string }>(
      `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
       VALUES (gen_random_uuid(), $1, $2, 'publisher', $3, now() + interval '1 day') RETURNING id`,
      [workspace.id, email, workspace.owner.userId],
    );
    expect((await visitor.get(`/invitations/${invitationId}`)).json()).toMatchObject({
      email,
      role: 'publisher',
    });
    const signUp = (address: string, id: string) =>
      visitor.account('/sign-up/email', { name: 'Invited', email: address, password, invitationId: id });
    expect((await signUp(newEmail(), invitationId)).json()).toEqual(refused);
    expect((await signUp(email, randomUUID())).json()).toEqual(refused);
    expect((await signUp(email, invitationId)).status).toBe(200);
    // The user becomes a member only by accepting the invitation.
    expect((await meOf(visitor)).workspaces).toEqual([]);
    expect((await visitor.get('/order/leads')).status).toBe(403);
    expect((await visitor.account('/organization/accept-invitation', { invitationId })).status).toBe(200);
    expect((await meOf(visitor)).workspaces).toEqual([
      { id: workspace.id, slug: workspace.slug, name: workspace.slug, role: 'publisher' },
    ]);
    expect((await visitor.get(`/invitations/${invitationId}`)).status).toBe(404);
  });
});

describe('with a mail server', () => {
  let inbox: Inbox;
  let mailingCrm: Crm;
  beforeAll(async () => {
    inbox = await openInbox();
    mailingCrm = await startCrm({
      SMTP_URL: inbox.url,
      MAIL_FROM: 'Leads <leads@example.com>',
      PUBLIC_URL: 'http://leads.example',
    });
  });
  afterAll(async () => {
    await mailingCrm[Symbol.asyncDispose]();
    await inbox[Symbol.asyncDispose]();
  });

  test('sign-in requires a verified email address', async () => {
    const email = newEmail();
    const visitor = new Visitor(mailingCrm.service);
    const answer = await visitor.signUp(email);
    expect(answer.json()).toMatchObject({ signedIn: false });
    expect((await visitor.get('/me')).status).toBe(401);
    const link = linkIn(await inbox.mailTo(email));
    expect(link.pathname).toBe('/verify-email');
    const early = await visitor.signIn(email);
    expect([early.status, early.json()]).toEqual([
      403,
      {
        success: false,
        error: 'unauthorized',
        message: 'Your email address is not confirmed: open the link in the mail',
      },
    ]);
    const token = encodeURIComponent(link.searchParams.get('token') ?? '');
    expect((await visitor.send('GET', `/auth/verify-email?token=${token}`)).status).toBe(200);
    expect((await meOf(visitor)).workspace).toMatchObject({ role: 'owner' });
  });

  test('sign-up with a taken email address gets the usual response, and the owner gets a mail', async () => {
    const email = newEmail();
    const first = await new Visitor(mailingCrm.service).signUp(email);
    await inbox.mailTo(email);
    const second = await new Visitor(mailingCrm.service).signUp(email);
    const shape = (answer: typeof first) => {
      const { user, ...rest } = answer.json<{ user: object }>();
      return [answer.status, rest, Object.keys(user).toSorted(), Object.keys(answer.headers).toSorted()];
    };
    expect(shape(second)).toEqual(shape(first));
    expect(await inbox.mailTo(email)).toContain('You have an account already');
  });

  test('strangers can have 10 mails sent to an address by sign-ups and sign-ins', async () => {
    const email = newEmail();
    const stranger = new Visitor(mailingCrm.service);
    for (let count = 1; count <= 8; count++) expect((await stranger.signUp(email)).status).toBe(200);
    for (let count = 1; count <= 4; count++) expect((await stranger.signIn(email)).status).toBe(403);
    for (let count = 1; count <= 10; count++) await inbox.mailTo(email);
    const other = newEmail();
    await stranger.signUp(other);
    await inbox.mailTo(other);
    expect(inbox.countTo(email)).toBe(0);
    expect((await stranger.account('/send-verification-email', { email })).status).toBe(429);
  });

  test('a password reset ends all sessions, and an unknown email address gets the same response', async () => {
    const email = newEmail();
    const visitor = new Visitor(mailingCrm.service);
    await visitor.signUp(email);
    const token = encodeURIComponent(linkIn(await inbox.mailTo(email)).searchParams.get('token') ?? '');
    await visitor.send('GET', `/auth/verify-email?token=${token}`);
    expect((await visitor.get('/me')).status).toBe(200);

    const requester = new Visitor(mailingCrm.service);
    const known = await requester.account('/request-password-reset', { email });
    const unknown = await requester.account('/request-password-reset', { email: newEmail() });
    expect([unknown.status, unknown.json()]).toEqual([known.status, known.json()]);
    const link = linkIn(await inbox.mailTo(email));
    expect(link.pathname).toBe('/reset-password');
    const reset = { token: link.searchParams.get('token'), newPassword: 'another password' };
    expect(await requester.account('/reset-password', reset)).toMatchObject({ status: 200 });
    expect((await visitor.get('/me')).status).toBe(401);
    expect((await requester.signIn(email, 'another password')).status).toBe(200);
  });

  test('an invitation is sent by mail', async () => {
    const workspace = await mailingCrm.fixture.createWorkspace();
    await mailingCrm.fixture.sql('UPDATE "user" SET email_verified = true WHERE id = $1', [
      workspace.owner.userId,
    ]);
    const inviter = new Visitor(mailingCrm.service);
    await inviter.account('/reset-password', {
      token: await passwordToken(workspace.owner.email, mailingCrm.databaseUrl),
      newPassword: password,
    });
    expect((await inviter.signIn(workspace.owner.email)).status).toBe(200);
    const email = newEmail();
    const invitation = { email, role: 'manager', organizationId: workspace.id };
    expect((await inviter.account('/organization/invite-member', invitation)).status).toBe(200);
    const mail = await inbox.mailTo(email);
    expect(linkIn(mail).pathname).toMatch(/^\/invitations\/[\w-]{36}$/);
    expect(mail).toContain(workspace.slug);
  });
});

test('session cookies are Secure if PUBLIC_URL is an https URL', async () => {
  const secure = await startCrm({ PUBLIC_URL: 'https://leads.example' });
  try {
    const visitor = new Visitor(secure.service);
    await visitor.signUp();
    expect(visitor.setCookies).toEqual(
      ['session_token', 'known_browser'].map((name) =>
        expect.stringMatching(new RegExp(`^__Secure-leads\\.${name}=.*; Secure(;|$)`)),
      ),
    );
    const sent = await secure.service.send({
      method: 'POST',
      path: '/api/auth/sign-out',
      headers: { Origin: 'https://leads.example' },
      body: {},
    });
    expect(sent.status).toBe(200);
  } finally {
    await secure[Symbol.asyncDispose]();
  }
});

test('no request body causes a 5xx response on an account path', async () => {
  const workspace = await fixture.createWorkspace();
  const { visitor } = await signInAs(service, workspace, 'owner');
  const paths = [...new Set(service.routes.map(({ path }) => path))].filter(
    (path) =>
      path.startsWith('/api/auth/') && !/sign-out|sign-up|sign-in|password|two-factor|send-v/.test(path),
  );
  expect(paths.length).toBeGreaterThan(8);
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.uuid(),
    fc.constantFrom('', '\u0000', 'owner', 'admin', 'member', 'owner,publisher', workspace.id, 'a@b.io'),
  );
  const names = ['organizationId', 'invitationId', 'memberId', 'memberIdOrEmail', 'email', 'role', 'name'];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.dictionary(fc.constantFrom(...names), fc.oneof(text, fc.jsonValue({ maxDepth: 2 }))),
      async (path, body) => {
        const answer = await visitor.send('POST', path.slice('/api'.length), body);
        expect(answer.status).toBeLessThan(500);
      },
    ),
    { numRuns: 300 },
  );
});
