import { useState } from 'react';

/**
 * Returns how many leads the last change of the filters has found, for an announcement. Leads that arrive or leave later
 * do not change it. Undefined until the leads are counted, and for the filters with which the page was opened.
 *
 * @param key identifies the filters.
 */
export function useFoundCount(key: string, total: number | undefined): number | undefined {
  const [counted, setCounted] = useState<{ key: string; total: number; isFirst: boolean }>();
  if (total !== undefined && counted?.key !== key) {
    setCounted({ key, total, isFirst: counted === undefined });
  }
  return counted?.key === key && !counted.isFirst ? counted.total : undefined;
}
