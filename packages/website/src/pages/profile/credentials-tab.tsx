import { Stack } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { MadeCredential } from '../../api/credentials.ts';
import { SecretDialog } from '../../shell/secret-dialog.tsx';
import { PendingPage } from '../../shell/states.tsx';
import { texts } from '../../texts/index.ts';
import { AccessTokens } from './access-tokens.tsx';
import { ApiKeys } from './api-keys.tsx';

// Below the first screen.
const TryIt = lazy(async () => ({ default: (await import('./try-it.tsx')).TryIt }));

/** The latest secret of each kind created during this visit. */
export type ShownSecrets = { readonly [Kind in MadeCredential['kind']]?: MadeCredential };

export function CredentialsTab() {
  // Secrets are kept here only: not in a cache, the browser's storage or the address.
  const [held, setHeld] = useState<ShownSecrets>({});
  const [shown, setShown] = useState<MadeCredential>();
  const show = (made: MadeCredential) => {
    setShown(made);
    setHeld((before) => ({ ...before, [made.kind]: made }));
  };
  const clearSecret = (id: string) =>
    setHeld((before) => Object.fromEntries(Object.entries(before).filter(([, made]) => made.id !== id)));
  return (
    <Stack gap="xl">
      <ApiKeys onMade={show} onRevoked={clearSecret} />
      <AccessTokens onMade={show} onRevoked={clearSecret} />
      <Suspense fallback={<PendingPage />}>
        <TryIt held={held} onMade={show} onClear={clearSecret} />
      </Suspense>
      {/* Loaded eagerly: a failed load after a secret was created would lose the secret. */}
      <SecretDialog
        shown={shown && { ...shown, title: texts.profile.secretTitle[shown.kind] }}
        onClose={() => setShown(undefined)}
      />
    </Stack>
  );
}
