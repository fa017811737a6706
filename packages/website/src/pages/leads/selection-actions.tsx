import { notifications } from '@mantine/notifications';
import { may } from '@leads/core/credential/roles';
import type { MemberRole } from '@leads/core/credential';
import type { LeadStatus } from '@leads/core/lead';
import { neededBy } from '@leads/core/lead/sort-fields';
import { exportSelection } from '../../api/leads.ts';
import { type LeadFilters, sortOf } from '../../leads/lead-search.ts';
import { download } from '../../shell/download.ts';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { BulkBar } from './bulk-bar.tsx';
import type { LeadSelection } from './use-lead-selection.ts';
import type { StatusChanges } from './use-status-changes.tsx';

const AssignDialog = lazyDialog(async () => (await import('./assign-dialog.tsx')).AssignDialog);
const JobDialog = lazyDialog(async () => (await import('./job-dialog.tsx')).JobDialog);

/** The dialog that is open: the assignment, or the change to a status of all leads that match. */
export type SelectionDialog = 'assign' | LeadStatus | undefined;

/** The bar with the actions on the selected leads, and their dialogs. */
export function SelectionActions({
  selection: { chosen, isAll, isAllLoaded, selectAll },
  filters,
  total,
  role,
  hasMore,
  statusChanges,
  dialog,
  onDialog,
  onAssigned,
  onExportAll,
  onClear,
}: {
  selection: LeadSelection;
  filters: LeadFilters;
  total: number | undefined;
  role: MemberRole;
  /** Whether there are more leads than the loaded ones. */
  hasMore: boolean;
  statusChanges: StatusChanges;
  dialog: SelectionDialog;
  onDialog: (dialog: SelectionDialog) => void;
  /** Called when the selected leads are assigned and the dialog closes. */
  onAssigned: () => void;
  /** Exports all leads that match the filters. */
  onExportAll: (format: 'csv' | 'ndjson') => void;
  /** Clears the selection. */
  onClear: () => void;
}) {
  const closeDialog = () => onDialog(undefined);
  const onStarted = () => {
    closeDialog();
    onClear();
  };
  const exportChosen = async (format: 'csv' | 'ndjson') => {
    if (isAll) {
      onExportAll(format);
      return;
    }
    try {
      const ids = chosen.map(({ id }) => id);
      const day = new Date().toISOString().slice(0, 10);
      const sort = sortOf(filters);
      const has = neededBy(sort);
      const order = { sort, ...(has && { has }) };
      download(await exportSelection(format, { ids, ...order }), `leads-${day}.${format}`);
    } catch (error) {
      notifications.show({ color: 'red', message: (error as Error).message });
    }
  };
  return (
    <>
      {may(role, 'changeStatuses') && chosen.length > 0 && (
        <BulkBar
          leads={chosen}
          role={role}
          all={isAll && total !== undefined ? { total, filters } : undefined}
          onSelectAll={
            hasMore && total !== undefined && isAllLoaded ? { total, select: selectAll } : undefined
          }
          onChange={(to) => (isAll ? onDialog(to) : statusChanges.change(chosen, to))}
          onAssign={() => onDialog('assign')}
          onExport={(format) => void exportChosen(format)}
          onClear={onClear}
        />
      )}
      {dialog === 'assign' && (
        <AssignDialog
          leads={isAll ? undefined : chosen}
          filters={filters}
          total={total ?? 0}
          onAssigned={(sent, assigned) => statusChanges.assigned(sent, assigned)}
          onDone={() => {
            closeDialog();
            onAssigned();
          }}
          onStarted={onStarted}
          onClose={closeDialog}
        />
      )}
      {dialog !== undefined && dialog !== 'assign' && total !== undefined && (
        <JobDialog
          to={dialog}
          filters={filters}
          total={total}
          role={role}
          onStarted={onStarted}
          onClose={closeDialog}
        />
      )}
    </>
  );
}
