import { useEffect } from 'react';
import { holdPage } from './start-over.ts';

/** Prevents a reload of the page while a reload would lose or interrupt its content. */
export function useHeldPage(isHeld: boolean): void {
  useEffect(() => (isHeld ? holdPage() : undefined), [isHeld]);
}
