import { type ReactNode, useState } from 'react';
import type { MadeCredential } from '../api/credentials.ts';
import { useSecretDialog } from '../shell/secret-dialog.tsx';
import * as texts from '../texts/index.ts';

/** The latest secret of each kind created during this visit. */
export type ShownSecrets = { readonly [Kind in MadeCredential['kind']]?: MadeCredential };

/** The secrets of a page's visit, and the dialog that shows each of them once. */
export function useHeldSecrets(): {
  readonly held: ShownSecrets;
  readonly show: (made: MadeCredential) => void;
  readonly clear: (id: string) => void;
  readonly dialog: ReactNode;
} {
  // Secrets are kept here only: not in a cache, the browser's storage or the address.
  const [held, setHeld] = useState<ShownSecrets>({});
  // Loaded eagerly: a failed load after a secret was created would lose the secret.
  const { show, dialog } = useSecretDialog();
  return {
    held,
    show(made) {
      show({ ...made, title: texts.profile.secretTitle[made.kind] });
      setHeld((before) => ({ ...before, [made.kind]: made }));
    },
    clear(id) {
      setHeld((before) => Object.fromEntries(Object.entries(before).filter(([, made]) => made.id !== id)));
    },
    dialog,
  };
}
