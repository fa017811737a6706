import pg from 'pg';
import type { Connected } from './close-unanswered.ts';

/**
 * A client that closes its connection after each of its errors. node-postgres leaves the connection open if the URL has no
 * password. Postgres closes it after 60 s (`authentication_timeout`). Meanwhile, a command does not end, and a service that
 * retries takes connections of other services.
 */
export class ClosingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this as unknown as Connected;
    connection.on('error', (error: NodeJS.ErrnoException) => {
      // Prisma replaces an error of a system call by one that lacks its code, such as ECONNREFUSED, which names the reason.
      delete error.syscall;
      connection.stream.destroy();
    });
  }
}
