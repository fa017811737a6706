import { runLeads, startService } from '@leads/test-kit/services';
import { jwtSecret } from '@leads/test-kit/fixture';
import { type Inbox, linkIn, openInbox } from '@leads/test-kit/inbox';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectGoodEverywhere, expectGoodPage } from './page-checks.ts';
import { type Website, password, startWebsite } from './website.ts';

let website: Website;
let inbox: Inbox;
beforeAll(async () => {
  inbox = await openInbox();
  website = await startWebsite({
    SMTP_URL: inbox.url,
    MAIL_FROM: 'Leads <leads@example.com>',
    PUBLIC_URL: 'http://leads.example',
  });
});
afterEach(() => website.closePages());
afterAll(async () => {
  await website?.[Symbol.asyncDispose]();
  await inbox?.[Symbol.asyncDispose]();
});

const passwordField = (page: Page, label = 'Password') => page.getByLabel(label).first();

/**
 * Returns the path of the link in the next mail to an address. The tests open the path on the website's own host,
 * because the host of the link does not exist.
 */
async function mailedPath(email: string, page: string): Promise<string> {
  const { pathname, search } = linkIn(await inbox.mailTo(email));
  expect(pathname).toBe(page);
  return `${pathname}${search}`;
}

async function choosePassword(page: Page, chosen: string): Promise<void> {
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
  await passwordField(page, 'New password').fill(chosen);
  await page.keyboard.press('Enter');
}

describe('an account', () => {
  test('signs up, is confirmed by mail, signs out and in again, and resets its password by mail', async () => {
    const email = 'ada@example.com';
    const page = await website.openPage();
    await page.goto('/leads?status=Paid');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Email address').fill('Ada@Example.com');
    await passwordField(page).fill(password);
    await expectGoodPage(page);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    await expectGoodEverywhere(page, 'sign-up-check-mail');
    await mailedPath(email, '/verify-email');
    const resend = page.getByRole('button', { name: 'Send it again' });
    await resend.click();
    const confirm = await mailedPath(email, '/verify-email');
    // The button stays disabled after the mail is sent.
    await expect.poll(() => resend.getAttribute('data-loading')).toBeNull();
    expect(await resend.isDisabled()).toBe(true);

    await page.goto('/sign-in');
    await page.getByLabel('Email address').fill(email);
    await passwordField(page).fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('Your email address is not confirmed: open the link in the mail').waitFor();
    await expectGoodPage(page);
    // A sign-in with an unverified address sends another mail.
    await mailedPath(email, '/verify-email');
    // Without an answer, the link is still valid.
    await page.route('**/api/auth/verify-email*', (route) => route.abort());
    await page.goto(confirm);
    await page.getByRole('alert').getByText('No answer from the server').waitFor();
    await page.unroute('**/api/auth/verify-email*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: "Switch workspace: Ada Lovelace's workspace" }).waitFor();

    await page.getByRole('button', { name: 'Your account: Ada Lovelace' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email address').fill(email);
    await passwordField(page).fill('something else');
    await page.keyboard.press('Enter');
    await page.getByText('The email address or the password is wrong').waitFor();

    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
    await expectGoodEverywhere(page, 'forgot-password-mail');
    await page.getByLabel('Email address').fill(email);
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('we sent it a link').waitFor();
    await expectGoodPage(page);
    const reset = await mailedPath(email, '/reset-password');
    await page.goto(reset);
    await choosePassword(page, 'another horse battery');
    await page.getByRole('status').getByText('Your password is changed').waitFor();
    await expectGoodEverywhere(page, 'reset-password-done');
    const again = await website.openPage();
    await again.goto(reset);
    await choosePassword(again, 'yet another horse');
    await again
      .getByRole('alert')
      .getByText('This link was used before or has expired: ask for a new one')
      .waitFor();
    await expectGoodPage(again);

    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email address').fill(email);
    await passwordField(page).fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('The email address or the password is wrong').waitFor();
    await passwordField(page).fill('another horse battery');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/overview');

    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('button', { name: 'Invite someone' }).click();
    await page.getByRole('dialog').getByLabel('Email address').fill('guest@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('We sent a mail with the link to guest@example.com').waitFor();
    const shown = new URL(await page.getByRole('dialog').locator('pre').innerText());
    // A sign-up from the invitation accepts it, also if the address is confirmed in another tab.
    const guest = await website.openPage();
    await guest.goto(await mailedPath('guest@example.com', shown.pathname));
    await guest.getByRole('link', { name: 'Create an account' }).click();
    await guest.getByLabel('Your name').fill('Grace Hopper');
    await passwordField(guest).fill(password);
    await guest.keyboard.press('Enter');
    await guest.getByRole('heading', { name: 'Check your mail' }).waitFor();
    const tab = await guest.context().newPage();
    await tab.goto(await mailedPath('guest@example.com', '/verify-email'));
    await tab.getByRole('button', { name: "Switch workspace: Ada Lovelace's workspace" }).waitFor();

    // A stranger has signed up with an address. Its owner opens the link in another browser.
    await page.context().request.post(`${website.crm}/api/auth/sign-up/email`, {
      headers: { origin: website.crm },
      data: { name: 'Mallory', email: 'owner@example.com', password },
    });
    const owner = await website.openPage();
    await owner.goto(await mailedPath('owner@example.com', '/verify-email'));
    await owner.getByRole('heading', { name: 'Your address is confirmed' }).waitFor();
    await expectGoodPage(owner);
    await owner.getByRole('link', { name: 'Choose a password' }).click();
    await choosePassword(owner, 'the password of the owner');
    await owner.getByRole('status').getByText('Your password is changed').waitFor();
  });

  test('can only be created by invitation or by a link of the operator if sign-up is closed', async () => {
    const env = { DATABASE_URL: website.databaseUrl, JWT_SECRET: jwtSecret };
    await using closed = await startService('crm', { env: { ...env, ALLOW_SIGN_UP: 'false' } });
    const stranger = await website.openPage();
    await stranger.goto(`${closed.url}/sign-up`);
    await stranger.getByText('New accounts are by invitation only').waitFor();
    await expectGoodEverywhere(stranger, 'sign-up-closed');
    await stranger.getByRole('link', { name: 'Sign in' }).click();
    await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await stranger.getByRole('link', { name: 'Create an account' }).count()).toBe(0);

    const { owner, slug } = await website.fixture.createWorkspace();
    const { link } = (await runLeads(['user', 'password-link', '--email', owner.email], {
      ...env,
      PUBLIC_URL: closed.url,
    })) as { link: string };
    const page = await website.openPage();
    await page.goto(link);
    await choosePassword(page, password);
    await page.getByText('Your password is changed').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email address').fill(owner.email);
    await passwordField(page).fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: `Switch workspace: ${slug}` }).waitFor();

    await page.goto(`${closed.url}/members`);
    await page.getByRole('button', { name: 'Invite someone' }).click();
    await page.getByRole('dialog').getByLabel('Email address').fill('grace@example.com');
    await page.keyboard.press('Enter');
    const invitation = new URL(await page.getByRole('dialog').locator('pre').innerText());
    await stranger.goto(new URL(invitation.pathname, closed.url).href);
    await stranger.getByRole('link', { name: 'Create an account' }).click();
    await stranger.getByLabel('Your name').fill('Grace Hopper');
    await passwordField(stranger).fill(password);
    await stranger.keyboard.press('Enter');
    await stranger.getByRole('button', { name: `Switch workspace: ${slug}` }).waitFor();
  });
});
