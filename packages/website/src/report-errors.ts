/** The same again and again is told once, and of a page that breaks over and over not everything. */
const most = 20;
const told = new Set<string>();

/** Tells the service's log what went wrong in this browser. */
export function reportError(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (told.has(message) || told.size >= most) return;
  told.add(message);
  void send(message, stack);
}

async function send(message: string, stack: string | undefined): Promise<void> {
  // There is nobody left to tell when that fails.
  await fetch('/api/console/client-errors', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      message: message.slice(0, 1000),
      ...(stack !== undefined && { stack: stack.slice(0, 8000) }),
      // Without the query, which can hold a name or a phone number, and without what stands for a secret.
      page: location.pathname.replace(/^\/(integration|invitations)\/.*/, '/$1/...').slice(0, 255),
    }),
    keepalive: true,
  }).catch(() => undefined);
}

export function reportUncaughtErrors(): void {
  addEventListener('error', (event) => reportError(event.error ?? event.message));
  addEventListener('unhandledrejection', (event) => reportError(event.reason));
}
