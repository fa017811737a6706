import { linkIn, openInbox } from '@leads/test-kit/inbox';
import { expect, test } from 'vitest';
import { createMailer } from '../src/mailer.ts';

test.each([24, 240])(
  'the link of a mail has its token of %i characters, also if it begins like an encoded character',
  async (length) => {
    await using inbox = await openInbox();
    const to = 'user@example.com';
    const link = `http://leads.example/reset-password?token=${'3D'.repeat(length / 2)}`;
    await createMailer(
      inbox.url,
      'leads@example.com',
    )({ to, subject: 'A link', text: `Open it:\n\n${link}\n` });
    expect(linkIn(await inbox.mailTo(to)).href).toBe(link);
  },
);
