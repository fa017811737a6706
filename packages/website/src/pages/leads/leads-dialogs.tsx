import type { MemberRole } from '@leads/core/credential';
import { may } from '@leads/core/credential/roles';
import { useQueryClient } from '@tanstack/react-query';
import { invalidateCounts } from '../../api/leads.ts';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import type { useColumns } from './columns.ts';

const ColumnsDialog = lazyDialog(async () => (await import('./columns-dialog.tsx')).ColumnsDialog);
const JobsDialog = lazyDialog(async () => (await import('./jobs-dialog.tsx')).JobsDialog);
const NewLeadDialog = lazyDialog(async () => (await import('./new-lead-dialog.tsx')).NewLeadDialog);
const ImportDialog = lazyDialog(
  async () => (await import('../../leads/import/import-dialog.tsx')).ImportDialog,
);
const ImportStatusesDialog = lazyDialog(
  async () => (await import('../../leads/import/import-statuses-dialog.tsx')).ImportStatusesDialog,
);
const ShortcutsDialog = lazyDialog(async () => (await import('./shortcuts-dialog.tsx')).ShortcutsDialog);

/** The dialogs of the page. */
export type LeadsDialog = 'new' | 'import' | 'import-statuses' | 'shortcuts' | 'columns' | 'jobs';

/** The open dialog of the page. */
export function OpenLeadsDialog({
  dialog,
  columns,
  role,
  onChanged,
  onClose,
}: {
  dialog: LeadsDialog;
  columns: ReturnType<typeof useColumns>;
  role: MemberRole;
  /** Called when leads are created or changed. */
  onChanged: () => void;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  switch (dialog) {
    case 'columns':
      return (
        <ColumnsDialog columns={columns.columns} role={role} onChange={columns.change} onClose={onClose} />
      );
    case 'jobs':
      return <JobsDialog role={role} onClose={onClose} />;
    case 'new':
      return <NewLeadDialog onClose={onClose} onCreated={onChanged} />;
    case 'import':
      return (
        <ImportDialog
          onClose={onClose}
          onImported={() => {
            onChanged();
            invalidateCounts(queryClient);
          }}
        />
      );
    case 'import-statuses':
      return <ImportStatusesDialog onClose={onClose} onImported={onChanged} />;
    case 'shortcuts':
      return <ShortcutsDialog canChange={may(role, 'changeStatuses')} onClose={onClose} />;
  }
}
