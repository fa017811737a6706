/** The maximum number of errors that one page load reports. */
const maxReports = 20;
/** The reported messages. Each message is reported once. */
const reported = new Set<string>();

/** Reports an error of this browser to the service, which logs its class, page and script positions. */
export function reportError(error: unknown): void {
  const reportedError = error instanceof Error ? error : new Error(String(error));
  if (reported.has(reportedError.message) || reported.size >= maxReports) return;
  reported.add(reportedError.message);
  void send(reportedError);
}

async function send({ name, stack }: Error): Promise<void> {
  // A failed report is dropped: there is no other place to report it to.
  await fetch('/api/console/client-errors', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name: name.slice(0, 255),
      ...(stack !== undefined && { stack: stack.slice(0, 8000) }),
      // The query is omitted because it can contain a name or a phone number. Secrets in the path are masked.
      page: location.pathname.replace(/^\/(integration|invitations)\/.*/, '/$1/...').slice(0, 255),
    }),
    keepalive: true,
  }).catch(() => undefined);
}

/** Reports all errors that no code handles. */
export function reportUncaughtErrors(): void {
  addEventListener('error', (event) => reportError(event.error ?? event.message));
  addEventListener('unhandledrejection', (event) => reportError(event.reason));
}
