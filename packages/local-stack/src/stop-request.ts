/**
 * The time in which a second signal counts as the same key press: npm forwards the signal that the terminal
 * also sent to this process.
 */
const echoMs = 1_000;

/**
 * Listens for a request to stop: SIGINT, SIGTERM or SIGHUP. Under npm, the end of npm's shell is a request
 * too, since the shell does not forward signals.
 *
 * @param onForce called when the request is repeated.
 * @returns a signal that aborts at the first request, with the name of the signal as its reason; SIGTERM for
 * npm's shell.
 */
export function listenForStop(onForce: () => void): AbortSignal {
  const controller = new AbortController();
  let requestedAt = 0;
  const requestStop = (signal: NodeJS.Signals) => {
    if (!controller.signal.aborted) {
      requestedAt = Date.now();
      controller.abort(signal);
    } else if (Date.now() - requestedAt > echoMs) {
      onForce();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, requestStop);

  if (process.env['npm_lifecycle_event'] !== undefined) {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      if (!controller.signal.aborted) requestStop('SIGTERM');
    }, 500);
    timer.unref();
  }
  return controller.signal;
}
