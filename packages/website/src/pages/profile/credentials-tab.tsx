import { Stack } from '@mantine/core';
import { AccessTokens } from '../../credentials/access-tokens.tsx';
import { ApiKeys } from '../../credentials/api-keys.tsx';
import { useHeldSecrets } from '../../credentials/held-secrets.tsx';
import { lazySection } from '../../shell/lazy-part.tsx';

// Below the first screen.
const TryIt = lazySection(async () => (await import('../../examples/try-it.tsx')).TryIt);

export function CredentialsTab() {
  const { held, show, clear, dialog } = useHeldSecrets();
  return (
    <Stack gap="xl">
      <ApiKeys onMade={show} onRevoked={clear} />
      <AccessTokens onMade={show} onRevoked={clear} />
      <TryIt held={held} onMade={show} onClear={clear} />
      {dialog}
    </Stack>
  );
}
