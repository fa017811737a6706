import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { meQuery } from '../api/account.ts';
import * as texts from '../texts/index.ts';

/** Sets the title of the browser's tab while a page is shown. It names the workspace, so that tabs differ. */
export function useTitle(title: string): void {
  const workspace = useQuery({ ...meQuery, enabled: false }).data?.workspace?.name;
  useEffect(() => {
    document.title = [title, workspace, texts.common.product]
      .filter((part) => part !== undefined)
      .join(' · ');
  }, [title, workspace]);
}
