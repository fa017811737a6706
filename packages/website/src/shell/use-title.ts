import { useEffect } from 'react';
import { texts } from '../texts/index.ts';

/** Sets the title of the browser's tab while a page is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${texts.common.product}`;
  }, [title]);
}
