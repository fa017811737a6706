import { lazyDialog } from './lazy-dialog.tsx';

/** A confirmation whose code is loaded when it is opened. */
export const LazyConfirmDialog = lazyDialog(async () => (await import('./confirm-dialog.tsx')).ConfirmDialog);
