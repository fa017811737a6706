import { type ReactNode, useState } from 'react';
import type { MadeCredential } from '../api/credentials.ts';
import { SecretDialog } from '../shell/secret-dialog.tsx';
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
  const [shown, setShown] = useState<MadeCredential>();
  return {
    held,
    show(made) {
      setShown(made);
      setHeld((before) => ({ ...before, [made.kind]: made }));
    },
    clear(id) {
      setHeld((before) => Object.fromEntries(Object.entries(before).filter(([, made]) => made.id !== id)));
    },
    // Loaded eagerly: a failed load after a secret was created would lose the secret.
    dialog: (
      <SecretDialog
        shown={shown && { ...shown, title: texts.profile.secretTitle[shown.kind] }}
        onClose={() => setShown(undefined)}
      />
    ),
  };
}
