import { useBlocker } from '@tanstack/react-router';
import { usePreventReload } from './use-prevent-reload.ts';

/**
 * Keeps the page while leaving it would lose its content. The back button and links have no effect, the browser asks the user
 * before the tab is closed, and the page is not reloaded.
 *
 * @param explain shows why the page stays. Without it, an open dialog shows the reason.
 */
export function useKeepPage(isKept: boolean, explain?: () => void): void {
  usePreventReload(isKept);
  useBlocker({
    shouldBlockFn() {
      explain?.();
      return true;
    },
    disabled: !isKept,
  });
}
