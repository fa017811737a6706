/** The reason of a reload: the workspace changed on this page, or in another tab. */
type Reason = 'here' | 'elsewhere';

/** The storage key of the reason during the reload. */
const key = 'leads.startedOver';

/** Whether this page is leaving its workspace. Later errors for the same reason are ignored. */
let isLeaving = false;
/** Whether the page reloads as soon as no component prevents it. */
let isReloadPending = false;
/** The number of components that prevent a reload. */
let preventers = 0;

function reloadPage(reason: Reason): void {
  sessionStorage.setItem(key, reason);
  // The new address has no filters, because they belong to the previous workspace.
  location.replace(location.pathname);
}

/**
 * Runs an action that switches the workspace, and reloads the page. The reload removes everything of the previous
 * workspace from caches, forms and notifications.
 */
export async function changeWorkspace(by: () => Promise<unknown>): Promise<void> {
  isLeaving = true;
  try {
    await by();
  } catch (error) {
    isLeaving = false;
    throw error;
  }
  reloadPage('here');
}

/** Reloads the page for the user's current workspace, which is no longer the one of this page. */
export function reloadForWorkspace(): void {
  if (isLeaving) return;
  isLeaving = true;
  if (preventers > 0) isReloadPending = true;
  else reloadPage('elsewhere');
}

/** Prevents reloads, except by {@link changeWorkspace}. @returns a function that allows reloads again. */
export function preventReload(): () => void {
  preventers += 1;
  return () => {
    preventers -= 1;
    if (isReloadPending && preventers === 0) reloadPage('elsewhere');
  };
}

/** Returns the reason of this page's reload once, if it was reloaded. */
export function takeReloadReason(): Reason | undefined {
  const reason = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return reason === 'here' || reason === 'elsewhere' ? reason : undefined;
}
