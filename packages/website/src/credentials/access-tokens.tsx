import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import {
  accessTokensQuery,
  credentialsKey,
  type MadeCredential,
  revokeAccessToken,
} from '../api/credentials.ts';
import { useCommands } from '../shell/commands.ts';
import { ConfirmButton } from '../shell/confirm-button.tsx';
import { IconPlus } from '../shell/icons.tsx';
import { lazyDialog } from '../shell/lazy-part.tsx';
import { RecordRow } from '../shell/record-row.tsx';
import { ExactTime } from '../shell/relative-time.tsx';
import * as texts from '../texts/index.ts';
import { credentialEnd, LastUse } from './api-keys.tsx';
import { CredentialSection, StateBadge } from './credential-section.tsx';

const t = texts.profile;

const AccessTokenDialog = lazyDialog(
  async () => (await import('./access-token-dialog.tsx')).AccessTokenDialog,
);

export function AccessTokens({
  onMade,
  onRevoked,
}: {
  onMade: (made: MadeCredential) => void;
  onRevoked: (id: string) => void;
}) {
  const queryClient = useQueryClient();
  const query = useQuery(accessTokensQuery);
  const [creating, { open, close }] = useDisclosure(false);
  useCommands([{ label: t.createAccessToken, run: open }]);
  const reload = () => queryClient.invalidateQueries({ queryKey: credentialsKey });
  return (
    <>
      <CredentialSection
        title={t.accessTokens}
        lead={t.accessTokensLead}
        none={t.noAccessTokens}
        query={query}
        action={
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t.createAccessToken}
          </Button>
        }
        renderRow={(token) => (
          <RecordRow
            key={token.id}
            title={
              <>
                <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                  {token.name}
                </Text>
                <StateBadge state={token.state} />
              </>
            }
            facts={[
              [t.lastUsed, <LastUse key="use" credential={token} />],
              [t.created, <ExactTime key="created" at={token.createdAt} />],
              ...credentialEnd(token),
            ]}
            actions={
              token.state === 'active' && (
                <ConfirmButton
                  label={t.revoke}
                  name={t.revokeOf(token.name, '')}
                  title={t.revokeTokenTitle}
                  action={t.revoke}
                  onConfirm={async () => {
                    await revokeAccessToken(token.id);
                    onRevoked(token.id);
                    await reload();
                  }}
                >
                  <Text size="sm">{t.revokeTokenLead(token.name)}</Text>
                </ConfirmButton>
              )
            }
          />
        )}
      />
      {creating && (
        <AccessTokenDialog
          onClose={close}
          onMade={(made) => {
            onMade(made);
            void reload();
          }}
        />
      )}
    </>
  );
}
