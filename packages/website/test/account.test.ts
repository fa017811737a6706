import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findBarriers } from './axe.ts';
import { type Console, password, startConsole } from './console.ts';

let console: Console;
beforeAll(async () => {
  console = await startConsole();
}, 400_000);
afterEach(() => console.closePages());
afterAll(() => console?.[Symbol.asyncDispose]());

describe('an account', () => {
  test('is made on the website, with a workspace of its own, and is signed out and in again', async () => {
    const page = await console.openPage();
    await page.goto('/leads?status=Paid');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Email address').fill('Ada@Example.com');
    await page.getByLabel('Password', { exact: false }).first().fill(password);
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: "Switch workspace: Ada Lovelace's workspace" }).waitFor();

    await page.getByRole('button', { name: 'Your account: Ada Lovelace' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email address').fill('ada@example.com');
    await page.getByLabel('Password').first().fill('something else');
    await page.keyboard.press('Enter');
    await page.getByText('Invalid email or password').waitFor();
    await page.getByLabel('Password').first().fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/overview');
  });
});
