/** A second signal sooner than this comes from the same key press: npm passes on what the terminal sent us too. */
const echoMs = 1_000;

/**
 * Listens for the wish to end: SIGINT, SIGTERM, SIGHUP, and under npm also that npm's shell is gone, since that
 * does not pass signals on.
 *
 * @param onForce called when the wish is repeated.
 * @returns aborted at the first wish, with the signal's name as the reason; where there was none, with SIGTERM.
 */
export function listenForStop(onForce: () => void): AbortSignal {
  const controller = new AbortController();
  let wishedAt = 0;
  const wish = (signal: NodeJS.Signals) => {
    if (!controller.signal.aborted) {
      wishedAt = Date.now();
      controller.abort(signal);
    } else if (Date.now() - wishedAt > echoMs) {
      onForce();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, wish);

  if (process.env['npm_lifecycle_event'] !== undefined) {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      if (!controller.signal.aborted) wish('SIGTERM');
    }, 500);
    timer.unref();
  }
  return controller.signal;
}
