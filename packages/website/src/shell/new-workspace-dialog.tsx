import * as texts from '../texts/index.ts';
import { Dialog } from './dialog.tsx';
import { NewWorkspaceForm } from './no-workspace.tsx';

export function NewWorkspaceDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title={texts.common.newWorkspace}>
      <NewWorkspaceForm />
    </Dialog>
  );
}
