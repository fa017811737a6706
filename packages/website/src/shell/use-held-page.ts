import { useEffect } from 'react';
import { holdPage } from './start-over.ts';

/** Keeps the page from being loaded anew, which would cut off or lose what it shows, for as long as that holds. */
export function useHeldPage(isHeld: boolean): void {
  useEffect(() => (isHeld ? holdPage() : undefined), [isHeld]);
}
