import type { SendMail } from '@leads/core/account';
import type { Transporter } from 'nodemailer';

/** The timeout of each step of the mail server, in milliseconds. */
const timeoutMs = 10_000;

/**
 * Creates a function that sends mails. It connects when the first mail is sent.
 *
 * @param url `smtp://user:password@host:port`, or `smtps://` for TLS from the start.
 */
export function createMailer(url: string, from: string): SendMail {
  let opened: Promise<Transporter> | undefined;
  const open = async () => {
    // The library is loaded with the first mail.
    const { createTransport } = await import('nodemailer');
    return createTransport({
      url,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
    });
  };
  return async (mail) => {
    opened ??= open();
    await (await opened).sendMail({ from, ...mail });
  };
}
