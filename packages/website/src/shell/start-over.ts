/** The reason of a reload: the workspace changed on this page, or in another tab. */
type Reason = 'here' | 'elsewhere';

/** The storage key of the reason during the reload. */
const key = 'leads.startedOver';

/** Once this page leaves its workspace, further refusals for the same reason are ignored. */
let isLeaving = false;
/** The page reloads as soon as nothing holds it. */
let isDue = false;
let holds = 0;

function loadAnew(reason: Reason): void {
  sessionStorage.setItem(key, reason);
  // Without the address's filters, which belong to the last workspace.
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
  loadAnew('here');
}

/** Reloads the page for the user's current workspace, which is no longer the one of this page. */
export function startOver(): void {
  if (isLeaving) return;
  isLeaving = true;
  if (holds > 0) isDue = true;
  else loadAnew('elsewhere');
}

/** Prevents reloads, except by {@link changeWorkspace}. @returns a function that ends this. */
export function holdPage(): () => void {
  holds += 1;
  return () => {
    holds -= 1;
    if (isDue && holds === 0) loadAnew('elsewhere');
  };
}

/** Returns the reason of this page's reload once, if it was reloaded. */
export function takeReason(): Reason | undefined {
  const reason = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return reason === 'here' || reason === 'elsewhere' ? reason : undefined;
}
