import { type Principal, requirePermission } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import { checkFilters } from './list-leads.ts';
import type { NewSavedView, SavedView, SavedViewChanges } from './saved-view.schema.ts';

/** The views that a member sees and changes. */
export interface ViewScope {
  readonly workspaceId: string;
  readonly userId: string;
  /** Whether the member sees the shared views of the workspace, too. */
  readonly isManager: boolean;
}

/** A view to store. It belongs to the workspace if it is shared, else to the user of the scope. */
type ViewToStore = Omit<SavedView, 'createdAt' | 'updatedAt'>;

/** A store of saved views. */
export interface SavedViewStore {
  /** @throws LeadsError `limit_reached` */
  create(scope: ViewScope, view: ViewToStore): Promise<SavedView>;
  /** Lists views by name, the shared ones first. */
  list(scope: ViewScope): Promise<SavedView[]>;
  /**
   * Changes a view. No other change of it comes between the read and the write.
   *
   * @param decide returns the changed view.
   * @returns undefined if the scope has no such view.
   * @throws LeadsError `limit_reached`, and the errors of `decide`.
   */
  update(
    scope: ViewScope,
    id: string,
    decide: (view: SavedView) => ViewToStore,
  ): Promise<SavedView | undefined>;
  /** @returns the removed view; undefined if the scope has no such view. */
  remove(scope: ViewScope, id: string): Promise<SavedView | undefined>;
}

const scopeOf = ({ workspaceId, userId, role }: Principal): ViewScope => ({
  workspaceId,
  userId,
  isManager: may(role, 'shareViews'),
});

/**
 * Creates a view of the lead list.
 *
 * @throws LeadsError `forbidden` for a shared view of a publisher; `invalid_input` for a filter that the list rejects;
 *   `limit_reached`.
 */
export async function createSavedView(
  views: SavedViewStore,
  principal: Principal,
  given: NewSavedView,
): Promise<SavedView> {
  const view = { id: newId(), filters: {}, shared: false, ...given };
  check(principal, view);
  return views.create(scopeOf(principal), view);
}

/** Lists the views of the principal, and the shared ones for owners and managers. */
export function listSavedViews(views: SavedViewStore, principal: Principal): Promise<SavedView[]> {
  return views.list(scopeOf(principal));
}

/**
 * Changes a view.
 *
 * @returns the view, and whether it was shared before.
 * @throws LeadsError `not_found`, and as {@link createSavedView} does.
 */
export async function updateSavedView(
  views: SavedViewStore,
  principal: Principal,
  id: string,
  changes: SavedViewChanges,
): Promise<{ view: SavedView; wasShared: boolean }> {
  let wasShared = false;
  const view = await views.update(scopeOf(principal), id, (before) => {
    wasShared = before.shared;
    const { sort, columns, widths, ...others } = { ...before, ...changes };
    const changed = {
      ...others,
      ...(sort && { sort }),
      ...(columns && { columns }),
      ...(widths && { widths }),
    };
    // Other changes, such as a new name, are possible after the user has lost the right to a filter.
    if ('filters' in changes || 'sort' in changes || 'shared' in changes) check(principal, changed);
    return changed;
  });
  if (view === undefined) throw new LeadsError('not_found');
  return { view, wasShared };
}

/** Deletes a view. @throws LeadsError `not_found` */
export async function deleteSavedView(
  views: SavedViewStore,
  principal: Principal,
  id: string,
): Promise<SavedView> {
  const view = await views.remove(scopeOf(principal), id);
  if (view === undefined) throw new LeadsError('not_found');
  return view;
}

function check(principal: Principal, { shared, filters, sort }: ViewToStore): void {
  if (shared) requirePermission(principal, 'shareViews');
  checkFilters(principal, { ...filters, ...(sort !== undefined && { sort }) });
}
