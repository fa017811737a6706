import { useEffect } from 'react';
import { preventReload } from './workspace-reload.ts';

/** Prevents a reload of the page while a reload would lose or interrupt its content. */
export function usePreventReload(isPrevented: boolean): void {
  useEffect(() => (isPrevented ? preventReload() : undefined), [isPrevented]);
}
