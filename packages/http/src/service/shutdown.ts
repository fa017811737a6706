import type closeWithGrace from 'close-with-grace';
import { logLevelSignal } from './log-level.ts';

/** How both services end. */
export const shutdown = {
  // From the signal to the end, in milliseconds. Orchestrators kill after 30 s.
  delay: 28_000,
  logger: false,
  skip: [logLevelSignal],
} satisfies closeWithGrace.Options;
