import type { MemberRole } from '@leads/core/credential';
import { useQuery } from '@tanstack/react-query';
import { viewsQuery } from '../../api/views.ts';
import { builtInViewsOf, type ListView } from '../../leads/built-in-views.ts';
import { isSame, type LeadFilters } from '../../leads/lead-search.ts';
import { useColumns } from './columns.ts';

/**
 * Returns the open view, the columns of the list, and the shown list as a view to save.
 *
 * @param viewId the view in the address.
 */
export function useShownView(
  userId: string,
  role: MemberRole,
  viewId: string | undefined,
  filters: LeadFilters,
) {
  const builtIn = builtInViewsOf(role).find(({ id }) => id === viewId);
  const { data: views } = useQuery({
    ...viewsQuery,
    enabled: viewId !== undefined && builtIn === undefined,
  });
  const view: ListView | undefined = builtIn ?? views?.find(({ id }) => id === viewId);
  const columns = useColumns(
    userId,
    role,
    view && { id: view.id, columns: view.columns && { names: view.columns, widths: view.widths ?? {} } },
  );
  const { sort, ...filtersOnly } = filters;
  return {
    view,
    columns,
    shown: {
      filters: filtersOnly,
      ...(sort !== undefined && { sort }),
      ...(columns.chosen !== undefined && {
        columns: [...columns.chosen.names],
        widths: columns.chosen.widths as Record<string, number>,
      }),
    },
    /** Whether the shown list differs from the open view. */
    isChanged:
      view !== undefined && (columns.isChanged || !isSame(filters, { ...view.filters, sort: view.sort })),
  };
}
