import type { SendMail } from '@leads/core/account';
import { createTransport } from 'nodemailer';

/** How long the mail server may take for each step, in milliseconds. */
const timeoutMs = 10_000;

/** @param url `smtp://user:password@host:port`, or `smtps://` for TLS from the start. */
export function createMailer(url: string, from: string): SendMail {
  const transport = createTransport({
    url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  return async (mail) => {
    await transport.sendMail({ from, ...mail });
  };
}
