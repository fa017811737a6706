import { useBlocker } from '@tanstack/react-router';
import { usePreventReload } from './use-prevent-reload.ts';

/**
 * Keeps the page while leaving it would lose its content. The back button and links have no effect, the browser asks the user
 * before the tab is closed, and the page is not reloaded.
 */
export function useKeepPage(isKept: boolean): void {
  usePreventReload(isKept);
  useBlocker({ shouldBlockFn: () => true, disabled: !isKept });
}
