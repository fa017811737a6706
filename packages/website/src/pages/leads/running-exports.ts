import { type QueryClient, queryOptions, skipToken } from '@tanstack/react-query';

/** An export whose file is being written. */
export interface RunningExport {
  readonly id: string;
  readonly fileName: string;
  /** The number of leads that have arrived. */
  readonly received: number;
  /** The number of leads that matched when the export began, if it was known. */
  readonly total: number | undefined;
  readonly cancel: () => void;
}

/** The running exports of this page. They continue while the user is on another page of the website. */
export const exportsQuery = queryOptions<readonly RunningExport[]>({
  queryKey: ['exports'],
  queryFn: skipToken,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});

/** Adds an export or its progress. Without `changed`, the export is removed. */
export function setExport(queryClient: QueryClient, id: string, changed?: RunningExport): void {
  queryClient.setQueryData(exportsQuery.queryKey, (exports = []) => {
    const others = exports.filter((each) => each.id !== id);
    return changed === undefined ? others : [...others, changed].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  });
}
