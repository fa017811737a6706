import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectGoodEverywhere, expectGoodPage, overflowOf } from './page-checks.ts';
import { type Website, hold, password, openWebsite, signInInAnotherTab, waitForFrames } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** The row of a member comes before the rows of its keys and tokens. */
const row = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text }).first();

/** Opens a page in a workspace whose only owner is the signed-in user. */
async function openAsOnlyOwner() {
  const opened = await website.openSignedIn();
  await website.fixture.sql('DELETE FROM member WHERE workspace_id = $1 AND user_id = $2', [
    opened.workspace.id,
    opened.workspace.owner.userId,
  ]);
  return opened;
}

/** Invites a user and closes the dialog. @returns the path of the invitation link. */
async function invite(page: Page, email: string): Promise<string> {
  await page.getByRole('button', { name: 'Invite someone' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill(email);
  await page.keyboard.press('Enter');
  const link = await dialog.locator('pre').innerText();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
  return new URL(link).pathname;
}

test('long names and addresses are shown completely in dialogs, in an invitation and in the panel of a lead, also on a phone', async () => {
  const { page, workspace } = await website.openSignedIn({ width: 320 });
  const email = 'maximiliane.mustermann-schwarzenberger@very-long-company-name.example.com';
  const name = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
  const { userId } = await workspace.addMember('manager', { email });
  await website.fixture.sql('UPDATE "user" SET name = $1 WHERE id = $2', [name, userId]);
  const expectComplete = async (text: string) => {
    const dialog = page.getByRole('dialog');
    await dialog.getByText(text).waitFor();
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  };
  await page.goto('/members');
  await page.getByRole('button', { name: `Remove ${name}` }).click();
  await expectComplete(`${name} loses access`);
  await page.goto('/developers');
  await page
    .getByRole('button', { name: `of ${email}` })
    .first()
    .click();
  await expectComplete(`Programs of ${email}`);

  const leads = ['a', 'b'].map((end) =>
    workspace.lead(workspace.owner, {
      name: `${name}${end}`,
      phone: '+442079460958',
      phoneE164: '+442079460958',
    }),
  );
  await website.fixture.leads.insert(leads);
  await page.goto(`/leads?lead=${leads[0]?.id}`);
  const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
  await panel.getByText('Other leads with this phone number').waitFor();
  expect(await panel.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);

  await website.fixture.sql('UPDATE workspace SET name = $1 WHERE id = $2', [name, workspace.id]);
  const [invitation] = await website.fixture.sql<{ id: string }>(
    `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
     VALUES (gen_random_uuid(), $1, $2, 'manager', $3, now() + interval '1 day') RETURNING id`,
    [workspace.id, `${'x'.repeat(40)}@example.com`, workspace.owner.userId],
  );
  await page.goto(`/invitations/${invitation?.id}`);
  await page.getByRole('heading', { name: `Join ${name}` }).waitFor();
  expect(await overflowOf(page)).toBe(0);
});

test('a page shows what a changed role permits after the service has rejected a request for it', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await page.goto('/campaigns');
  const create = page.getByRole('button', { name: 'New campaign' });
  await create.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Spring');
  await dialog.getByLabel('Code').fill('SPRING');
  await website.fixture.sql(`UPDATE member SET role = 'publisher' WHERE workspace_id = $1 AND user_id = $2`, [
    workspace.id,
    member.userId,
  ]);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect.poll(() => page.locator('a', { hasText: 'Audit log' }).count()).toBe(0);
  await create.waitFor({ state: 'detached' });
});

test('a user whose session has ended is asked to sign in when they invite or remove a member', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const { email } = await workspace.addMember('publisher');
  const endSession = () => website.fixture.sql('DELETE FROM session WHERE user_id = $1', [member.userId]);
  await page.goto('/members');
  await page.getByRole('button', { name: 'Invite someone' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill('guest@example.com');
  await endSession();
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await signInInAnotherTab(page, member);
  expect(await dialog.getByLabel('Email address').inputValue()).toBe('guest@example.com');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await dialog.getByText('Pass the link on yourself').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page
    .getByRole('listitem')
    .filter({ hasText: email })
    .getByRole('button', { name: /^Remove/ })
    .click();
  await endSession();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
});

test('an invitation whose link cannot be loaded says so, and shows the link when the user tries again', async () => {
  const { page } = await openAsOnlyOwner();
  await page.goto('/members');
  await page.getByRole('button', { name: 'Invite someone' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill(`${randomUUID()}@example.com`);
  await page.route(/\/console\/invitations/, (route) => route.fulfill({ status: 403, json: {} }));
  await page.keyboard.press('Enter');
  await dialog.getByRole('heading', { name: 'The invitation is ready' }).waitFor();
  await dialog.getByRole('alert').waitFor();
  expect(await dialog.getByLabel('Email address').count()).toBe(0);
  await page.unroute(/\/console\/invitations/);
  await dialog.getByRole('button', { name: 'Try again' }).click();
  expect(await dialog.locator('pre').innerText()).toContain('/invitations/');
});

test('a user who accepts an invitation becomes a member with the permissions of the role', async () => {
  const { page, workspace } = await openAsOnlyOwner();
  await page.goto('/members');
  await page.getByText('You are the only owner').waitFor();
  expect(await page.getByRole('button', { name: 'Leave the workspace' }).count()).toBe(0);
  const email = `${randomUUID()}@example.com`;
  await page.getByRole('button', { name: 'Invite someone' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill(email);
  await expectGoodPage(page);
  await page.keyboard.press('Enter');
  await dialog.getByText('Pass the link on yourself').waitFor();
  const link = await dialog.locator('pre').innerText();
  await expectGoodEverywhere(page, 'members-invited');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await row(page, email).getByText('Publisher').waitFor();
  await expectGoodEverywhere(page, 'members');

  const other = await website.openPage();
  await other.goto(new URL(link).pathname);
  await other.getByRole('heading', { name: `Join ${workspace.slug}` }).waitFor();
  await other.getByRole('link', { name: 'Create an account' }).click();
  await other.getByLabel('Your name').fill('Grace Hopper');
  await other.getByLabel('Password').first().fill(password);
  await other.keyboard.press('Enter');
  await other.getByRole('button', { name: `Switch workspace: ${workspace.slug}` }).waitFor();
  await other.getByRole('link', { name: 'Members' }).click();
  await other.getByText('You are a publisher here').waitFor();
  await expectGoodEverywhere(other, 'members-publisher');

  await page.reload();
  await row(page, 'Grace Hopper').getByRole('combobox', { name: 'Role of Grace Hopper' }).click();
  await page.getByRole('option', { name: 'Manager' }).click();
  await expect
    .poll(() =>
      website.fixture.sql('SELECT role FROM member WHERE workspace_id = $1 AND role <> $2', [
        workspace.id,
        'owner',
      ]),
    )
    .toEqual([{ role: 'manager' }]);
  await other.reload();
  // A manager sees the members but cannot change them.
  await row(other, 'Grace Hopper').getByText('You').waitFor();
  expect(await other.getByRole('button', { name: /Remove|Invite/ }).count()).toBe(0);
  expect(await other.getByRole('combobox', { name: /Role of/ }).count()).toBe(0);

  // A change that gives or takes all rights is confirmed.
  const rolesOf = () =>
    website.fixture.sql('SELECT role::text FROM member WHERE workspace_id = $1 ORDER BY role', [
      workspace.id,
    ]);
  const question = page.getByRole('dialog', { name: 'Make Grace Hopper an owner?' });
  for (const answer of ['Cancel', 'Change the role']) {
    await row(page, 'Grace Hopper').getByRole('combobox', { name: 'Role of Grace Hopper' }).click();
    await page.getByRole('option', { name: 'Owner' }).click();
    await question.waitFor();
    expect(await rolesOf()).toEqual([{ role: 'manager' }, { role: 'owner' }]);
    await expectGoodEverywhere(page, 'members-owner');
    await question.getByRole('button', { name: answer }).click();
    await question.waitFor({ state: 'detached' });
  }
  await expect.poll(rolesOf).toEqual([{ role: 'owner' }, { role: 'owner' }]);
  await row(page, 'You').getByRole('combobox').click();
  await page.getByRole('option', { name: 'Publisher' }).click();
  await page.getByRole('dialog', { name: 'Change your own role to Publisher?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await rolesOf()).toEqual([{ role: 'owner' }, { role: 'owner' }]);

  // Another owner is demoted or removed only after a confirmation.
  await page.getByRole('button', { name: 'Remove Grace Hopper' }).click();
  await page.getByRole('dialog', { name: 'Remove this member?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const demotion = page.getByRole('dialog', { name: 'Change Grace Hopper from Owner to Manager?' });
  for (const answer of ['Cancel', 'Change the role']) {
    await row(page, 'Grace Hopper').getByRole('combobox', { name: 'Role of Grace Hopper' }).click();
    await page.getByRole('option', { name: 'Manager' }).click();
    await demotion.getByText('Grace Hopper loses the rights of an owner at once').waitFor();
    expect(await rolesOf()).toEqual([{ role: 'owner' }, { role: 'owner' }]);
    await demotion.getByRole('button', { name: answer }).click();
    await demotion.waitFor({ state: 'detached' });
  }
  await expect.poll(rolesOf).toEqual([{ role: 'manager' }, { role: 'owner' }]);

  await page.getByRole('button', { name: 'Remove Grace Hopper' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row(page, 'Grace Hopper').waitFor({ state: 'detached' });
  await other.reload();
  await other.getByText('You are not a member of any workspace').waitFor();
});

test('the credentials of a removed member disappear from the list of all credentials at once', async () => {
  const { page, workspace } = await website.openSignedIn();
  const { userId, email } = await workspace.addMember('publisher');
  await website.fixture.sql(`UPDATE "user" SET name = 'Grace Hopper' WHERE id = $1`, [userId]);
  // No list is refreshed because of its age.
  await page.clock.setFixedTime(new Date());
  await page.goto('/developers');
  const credentials = page.getByRole('list', { name: 'Keys and tokens of all members' });
  const ofMember = credentials.getByRole('listitem').filter({ hasText: email });
  await expect.poll(() => ofMember.count()).toBe(2);
  await page.getByRole('link', { name: 'Members', exact: true }).click();
  await page.getByRole('button', { name: 'Remove Grace Hopper' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row(page, 'Grace Hopper').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Developers' }).click();
  await credentials.waitFor();
  await expect.poll(() => ofMember.count()).toBe(0);
});

test('an invitation that was accepted in another tab offers the overview, and no longer an answer', async () => {
  const { workspace } = await website.openSignedIn();
  const { page, member } = await website.openSignedIn();
  const [invitation] = await website.fixture.sql<{ id: string }>(
    `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
     VALUES (gen_random_uuid(), $1, $2, 'manager', $3, now() + interval '1 day') RETURNING id`,
    [workspace.id, member.email, workspace.owner.userId],
  );
  const path = `/invitations/${invitation?.id}`;
  const otherTab = await page.context().newPage();
  for (const tab of [page, otherTab]) {
    await tab.goto(path);
    await tab.getByRole('button', { name: 'Accept' }).waitFor();
  }
  await otherTab.getByRole('button', { name: 'Accept' }).click();
  await otherTab.getByRole('button', { name: `Switch workspace: ${workspace.slug}` }).waitFor();
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'The invitation cannot be opened' }).waitFor();
  expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByRole('button', { name: `Switch workspace: ${workspace.slug}` }).waitFor();
});

test('the link of a canceled invitation no longer works', async () => {
  const { page } = await openAsOnlyOwner();
  await page.goto('/members');
  const path = await invite(page, 'someone@example.com');
  await page.getByRole('button', { name: 'Cancel the invitation of someone@example.com' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the invitation' }).click();
  await page.getByText('No pending invitations.').waitFor();
  await page.goto(path);
  await page.getByText('The invitation was accepted, declined or canceled').waitFor();
  expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
});

test('only the invited user can decline an invitation, and can then create a workspace', async () => {
  const { page, workspace } = await openAsOnlyOwner();
  await page.goto('/members');
  const invited = await website.openSignedIn();
  const { page: other } = invited;
  const { email } = invited.member;
  await website.fixture.sql('DELETE FROM member WHERE user_id = $1', [invited.member.userId]);
  const path = await invite(page, email);
  const { page: stranger, member } = await website.openSignedIn();
  await stranger.goto(path);
  await stranger.getByText(`You are signed in as ${member.email}`).waitFor();
  expect(await stranger.getByRole('button', { name: /Accept|Decline/ }).count()).toBe(0);
  await expectGoodEverywhere(stranger, 'invitation-other');
  await stranger.getByRole('button', { name: 'Sign out' }).click();
  await stranger.getByText('Creating an account accepts it').waitFor();
  await other.goto(path);
  await other.getByRole('button', { name: 'Accept' }).waitFor();
  await expectGoodPage(other);
  await other.getByRole('button', { name: 'Decline' }).click();
  await other.getByText('You are not a member of any workspace').waitFor();
  await expectGoodEverywhere(other, 'no-workspace');
  expect(
    await website.fixture.sql('SELECT email, status FROM invitation WHERE workspace_id = $1', [workspace.id]),
  ).toEqual([{ email, status: 'rejected' }]);
  await other.goto(path);
  await other.getByText('The invitation was accepted, declined or canceled').waitFor();
  await page.reload();
  await page.getByText('No pending invitations.').waitFor();

  await other.goto('/leads');
  await other.getByLabel('Name of the workspace').fill('Of my own');
  await other.keyboard.press('Enter');
  await other.getByRole('button', { name: 'Switch workspace: Of my own' }).waitFor();
  await other.getByRole('heading', { name: 'Welcome. Your first steps' }).waitFor();
});

test('an owner can rename the workspace, and cannot leave it as its only owner', async () => {
  const { page, workspace } = await openAsOnlyOwner();
  const second = await website.openSignedIn({ workspace });
  // A list would move the sections below it while a user clicks a button of theirs.
  const members = await hold(page, /\/console\/members$/);
  const invitations = await hold(page, /\/console\/invitations$/);
  await page.goto('/members');
  await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
  await waitForFrames(page);
  expect(await page.getByRole('heading', { level: 2 }).count()).toBe(0);
  members.release();
  await page.getByRole('heading', { name: 'Pending invitations' }).waitFor();
  await waitForFrames(page);
  expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Pending invitations']);
  invitations.release();
  await page.getByLabel('Name of the workspace').fill('   ');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/Must not be blank/).waitFor();
  await page.getByLabel('Name of the workspace').fill('Spring campaigns');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Switch workspace: Spring campaigns' }).waitFor();

  // Another owner renames the workspace. This page shows it when the user returns to the tab.
  await website.fixture.sql(`UPDATE workspace SET name = 'Autumn campaigns' WHERE id = $1`, [workspace.id]);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await page.getByRole('button', { name: 'Switch workspace: Autumn campaigns' }).waitFor();
  await expect.poll(() => page.getByLabel('Name of the workspace').inputValue()).toBe('Autumn campaigns');

  // The other owner leaves meanwhile. This page still offers to leave.
  await second.page.goto('/members');
  await second.page.getByRole('button', { name: 'Leave the workspace' }).click();
  await second.page.getByRole('dialog').getByRole('button', { name: 'Leave the workspace' }).click();
  await second.page.getByRole('button', { name: "Switch workspace: Test Person's workspace" }).waitFor();

  await page.getByRole('button', { name: 'Leave the workspace' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave the workspace' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('A workspace needs an owner').waitFor();
  expect(
    await website.fixture.sql('SELECT role FROM member WHERE workspace_id = $1', [workspace.id]),
  ).toEqual([{ role: 'owner' }]);
});

test('members are visible only in their own workspace', async () => {
  const { page, member } = await website.openSignedIn();
  const stranger = await website.openSignedIn();
  await page.goto('/members');
  await row(page, member.email).waitFor();
  await stranger.page.goto('/members');
  await row(stranger.page, stranger.member.email).waitFor();
  expect(await row(stranger.page, member.email).count()).toBe(0);
});
