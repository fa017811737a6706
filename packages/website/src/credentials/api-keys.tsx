import { Alert, Badge, Button, Code, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ApiKeyView } from '@leads/core/credential';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { campaignsQuery } from '../api/campaigns.ts';
import {
  apiKeysQuery,
  credentialsKey,
  type MadeCredential,
  replacementsOf,
  revokeApiKey,
  rotateApiKey,
} from '../api/credentials.ts';
import { useCommands } from '../shell/commands.ts';
import { ConfirmButton } from '../shell/confirm-button.tsx';
import { IconPlus } from '../shell/icons.tsx';
import { keyLimits } from '../shell/key-limits.ts';
import { lazyDialog } from '../shell/lazy-part.tsx';
import { AnchorLink } from '../shell/links.tsx';
import { RecordRow } from '../shell/record-row.tsx';
import { ExactTime } from '../shell/relative-time.tsx';
import { relativeTime, useNow } from '../shell/time.ts';
import * as texts from '../texts/index.ts';
import { CredentialSection, StateBadge } from './credential-section.tsx';

const t = texts.profile;

const ApiKeyDialog = lazyDialog(async () => (await import('./api-key-dialog.tsx')).ApiKeyDialog);

/** After this many minutes without a use, the old key is probably no longer in use. */
const quietMinutes = 10;

export function ApiKeys({
  onMade,
  onRevoked,
}: {
  onMade: (made: MadeCredential) => void;
  onRevoked: (id: string) => void;
}) {
  const queryClient = useQueryClient();
  const query = useQuery(apiKeysQuery);
  const { data: campaigns } = useQuery(campaignsQuery);
  const [creating, { open, close }] = useDisclosure(false);
  useCommands([{ label: t.createApiKey, run: open }]);
  const replacements = replacementsOf(query.data ?? []);
  const reload = () => queryClient.invalidateQueries({ queryKey: credentialsKey });
  const show = (made: MadeCredential) => {
    onMade(made);
    // Not awaited: the secret would be lost if the user left the page while the list loads.
    void reload();
  };
  return (
    <>
      <CredentialSection
        title={t.apiKeys}
        lead={t.apiKeysLead}
        none={t.noApiKeys}
        query={query}
        action={
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t.createApiKey}
          </Button>
        }
        renderRow={(key) => {
          const replacement = replacements.get(key.id);
          const campaign = campaigns?.find(({ id }) => id === key.defaultCampaignId);
          return (
            <RecordRow
              key={key.id}
              title={
                <>
                  <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                    {key.name}
                  </Text>
                  <Code>{key.prefix}…</Code>
                  <Badge variant="default">
                    {t.scopes[typeof key.scope === 'string' ? key.scope : 'single']}
                  </Badge>
                  <StateBadge state={key.state} />
                </>
              }
              facts={[
                [t.lastUsed, <LastUse key="use" credential={key} />],
                [t.created, <ExactTime key="created" at={key.createdAt} />],
                ...credentialEnd(key),
                [
                  t.requests,
                  <AnchorLink
                    key="requests"
                    to="/developers"
                    search={{ tab: 'requests', key: key.id }}
                    size="sm"
                    aria-label={t.requestsOf(key.name, key.prefix)}
                  >
                    {t.requestLog}
                  </AnchorLink>,
                ],
                ...(campaign === undefined ? [] : [[t.defaultCampaign, campaign.code] as const]),
                ...keyLimits(key),
                ...(key.allowedOrigins.length === 0
                  ? []
                  : [[t.origins, key.allowedOrigins.join(', ')] as const]),
              ]}
              actions={
                key.state === 'active' && (
                  <>
                    {replacement === undefined && (
                      <ConfirmButton
                        label={t.rotate}
                        name={t.rotateOf(key.name, key.prefix)}
                        title={t.rotateTitle}
                        action={t.rotateAction}
                        color="petrol"
                        isSecret
                        onConfirm={async () => show(await rotateApiKey(key.id))}
                      >
                        <Text size="sm">{t.rotateLead}</Text>
                      </ConfirmButton>
                    )}
                    <ConfirmButton
                      label={t.revoke}
                      name={t.revokeOf(key.name, key.prefix)}
                      title={t.revokeKeyTitle}
                      action={t.revoke}
                      onConfirm={async () => {
                        await revokeApiKey(key.id);
                        onRevoked(key.id);
                        await reload();
                      }}
                    >
                      <Text size="sm">{t.revokeKeyLead(key.name)}</Text>
                    </ConfirmButton>
                  </>
                )
              }
            >
              {replacement !== undefined && <Replacement old={key} replacement={replacement} />}
            </RecordRow>
          );
        }}
      />
      {creating && <ApiKeyDialog onClose={close} onMade={show} />}
    </>
  );
}

/** When and from where a credential was used last. */
export function LastUse({ credential }: { credential: { lastUsedAt?: string; lastUsedFrom?: string } }) {
  return (
    <>
      <ExactTime at={credential.lastUsedAt} />
      {credential.lastUsedFrom !== undefined && ` ${t.usedFrom(credential.lastUsedFrom)}`}
    </>
  );
}

/** When a credential ended or will end. */
export function credentialEnd({ expiresAt, revokedAt }: { expiresAt?: string; revokedAt?: string }) {
  return revokedAt === undefined
    ? [[t.expires, <ExactTime key="expires" at={expiresAt} />] as const]
    : [[t.revoked, <ExactTime key="revoked" at={revokedAt} />] as const];
}

/** The state of a rotation: whether the old key can be revoked. */
function Replacement({ old, replacement }: { old: ApiKeyView; replacement: ApiKeyView }) {
  const now = useNow();
  const { lastUsedAt } = old;
  const isQuiet = lastUsedAt === undefined || now - Date.parse(lastUsedAt) > quietMinutes * 60_000;
  const since = lastUsedAt === undefined ? undefined : relativeTime(lastUsedAt, now);
  const hint =
    since === undefined ? t.safeNever : isQuiet ? t.safeQuiet(since) : t.stillUsed(since, quietMinutes);
  return (
    <Alert
      variant="light"
      color={isQuiet ? 'green' : 'yellow'}
      p="xs"
      title={t.beingReplaced(replacement.name, `${replacement.prefix}…`)}
    >
      {hint}
    </Alert>
  );
}
