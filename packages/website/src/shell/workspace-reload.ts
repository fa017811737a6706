/** Whether this page is leaving its workspace. Later errors for the same reason are ignored. */
let isLeaving = false;
/** Whether the page reloads as soon as no component prevents it. */
let isReloadPending = false;
/** The number of components that prevent a reload. */
let preventers = 0;

/**
 * Runs an action that ends or starts a membership, and loads the address that it returns. A new document has nothing of
 * the previous workspace in caches, forms and notifications. The promise is pending while the document loads, so that the
 * user cannot run the action again. It resolves if the back button shows this page again.
 */
export async function leaveWorkspacePage(by: () => Promise<string>): Promise<void> {
  isLeaving = true;
  try {
    location.assign(await by());
    await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }));
  } finally {
    isLeaving = false;
  }
}

/**
 * Reloads the page after the membership in its workspace has ended, or another user has signed in. The page then lists the
 * user's workspaces, or has nothing of the other user.
 */
export function reloadPage(): void {
  if (isLeaving) return;
  isLeaving = true;
  if (isReloadPrevented()) isReloadPending = true;
  else location.reload();
}

/** Whether the page is leaving its workspace. It cannot complete anything then. */
export const isLeavingWorkspace = (): boolean => isLeaving;

/** Whether a reload would lose or interrupt content of the page. */
export const isReloadPrevented = (): boolean => preventers > 0;

/** Prevents reloads, except by {@link leaveWorkspacePage}. @returns a function that allows reloads again. */
export function preventReload(): () => void {
  preventers += 1;
  return () => {
    preventers -= 1;
    if (isReloadPending && preventers === 0) location.reload();
  };
}
