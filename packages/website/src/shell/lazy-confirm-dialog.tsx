import { lazyDialog } from './lazy-part.tsx';

/** A confirmation whose code is loaded when it is opened. */
export const LazyConfirmDialog = lazyDialog(async () => (await import('./confirm-dialog.tsx')).ConfirmDialog);
