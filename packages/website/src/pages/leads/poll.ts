/**
 * The pause between a response and the next request, and the longest pause while requests fail. With responses within
 * 250 ms, a page shows a change within 2 s.
 */
const intervalMs = 1_500;
const maxIntervalMs = 60_000;
const failuresToReport = 3;

/**
 * Repeats a request until it is ended.
 *
 * @param isPaused returns whether no request is sent now. After a pause, `now` continues.
 * @param onFailing called after each request with whether the last requests have all failed.
 */
export function poll(
  request: () => Promise<void>,
  { isPaused, onFailing }: { isPaused: () => boolean; onFailing: (isFailing: boolean) => void },
): { readonly now: () => void; readonly end: () => void } {
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isPolling = false;
  let isRequested = false;
  let isEnded = false;
  const run = async () => {
    clearTimeout(timer);
    if (isPaused()) return;
    if (isPolling) {
      isRequested = true;
      return;
    }
    isPolling = true;
    try {
      await request();
      failures = 0;
    } catch {
      failures += 1;
    }
    isPolling = false;
    if (isEnded) return;
    onFailing(failures >= failuresToReport);
    wait(isRequested ? 0 : Math.min(intervalMs * 2 ** failures, maxIntervalMs));
    isRequested = false;
  };
  const wait = (ms: number) => {
    timer = setTimeout(() => void run(), ms);
  };
  wait(intervalMs);
  return {
    now: () => void run(),
    end() {
      isEnded = true;
      clearTimeout(timer);
    },
  };
}
