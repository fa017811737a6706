import type closeWithGrace from 'close-with-grace';
import { logLevelSignal } from './log-level.ts';

/** The shutdown behavior of both services. */
export const shutdown = {
  // Time from the signal to the exit, in milliseconds. Orchestrators kill a process after 30 s.
  delay: 28_000,
  logger: false,
  skip: [logLevelSignal],
} satisfies closeWithGrace.Options;
