import { useEffect } from 'react';
import { texts } from '../texts/index.ts';

/** What the browser's tab is called while a page is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${texts.common.product}`;
  }, [title]);
}
