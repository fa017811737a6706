import { Stack } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { MadeCredential } from '../../api/credentials.ts';
import { PendingPage } from '../../shell/states.tsx';
import { AccessTokens } from './access-tokens.tsx';
import { ApiKeys } from './api-keys.tsx';
import { SecretDialog } from './secret-dialog.tsx';

// Below what is looked at first.
const TryIt = lazy(async () => ({ default: (await import('./try-it.tsx')).TryIt }));

/** The latest secret of each kind that was made in this visit. */
export type HeldSecrets = { readonly [Kind in MadeCredential['kind']]?: MadeCredential };

export function CredentialsTab() {
  // Here and nowhere else: no cache, no storage, no address knows a secret.
  const [held, setHeld] = useState<HeldSecrets>({});
  const [shown, setShown] = useState<MadeCredential>();
  const show = (made: MadeCredential) => {
    setShown(made);
    setHeld((before) => ({ ...before, [made.kind]: made }));
  };
  const forget = (id: string) =>
    setHeld((before) => Object.fromEntries(Object.entries(before).filter(([, made]) => made.id !== id)));
  return (
    <Stack gap="xl">
      <ApiKeys onMade={show} onRevoked={forget} />
      <AccessTokens onMade={show} onRevoked={forget} />
      <Suspense fallback={<PendingPage />}>
        <TryIt held={held} onForget={forget} />
      </Suspense>
      {/* Not loaded when a secret was made: what cannot be loaded then would lose it. */}
      <SecretDialog made={shown} onClose={() => setShown(undefined)} />
    </Stack>
  );
}
