/** Why a page is loaded anew: its workspace was changed on it, or elsewhere. */
type Reason = 'here' | 'elsewhere';

/** Where the reason is kept over the load. */
const key = 'leads.startedOver';

/** Once this page leaves its workspace, what is refused for that reason says nothing new. */
let isLeaving = false;
/** It starts over as soon as nothing holds it any more. */
let isDue = false;
let holds = 0;

function loadAnew(reason: Reason): void {
  sessionStorage.setItem(key, reason);
  // Without what the address filters by or opens: that was of the last workspace.
  location.replace(location.pathname);
}

/**
 * Does what leads to another workspace, and shows that one. All is loaded anew: nothing of the last one is left, in
 * no cache, form or notification.
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

/** Shows the workspace that the user is in, which is not the one of this page any more. */
export function startOver(): void {
  if (isLeaving) return;
  isLeaving = true;
  if (holds > 0) isDue = true;
  else loadAnew('elsewhere');
}

/** Keeps the page as it is, but for {@link changeWorkspace}. @returns what ends that. */
export function holdPage(): () => void {
  holds += 1;
  return () => {
    holds -= 1;
    if (isDue && holds === 0) loadAnew('elsewhere');
  };
}

/** Why this page was loaded anew, if it was; told once. */
export function takeReason(): Reason | undefined {
  const reason = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return reason === 'here' || reason === 'elsewhere' ? reason : undefined;
}
