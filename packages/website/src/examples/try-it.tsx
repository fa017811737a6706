import {
  Alert,
  Badge,
  Button,
  Group,
  Paper,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../api/account.ts';
import { campaignsQuery } from '../api/campaigns.ts';
import { apiKeysQuery, credentialsKey, type MadeCredential } from '../api/credentials.ts';
import { CodeBlock } from './code-block.tsx';
import {
  type Api,
  apis,
  crmRequest,
  exampleLead,
  intakeRequest,
  mask,
  placeholders,
  type Secrets,
} from './example-request.ts';
import { type Language, languagesOf, writeSnippet } from './snippets.ts';
import { CopyTextButton } from '../shell/copy-text-button.tsx';
import { QueryState } from '../shell/states.tsx';
import { lazyDialog } from '../shell/lazy-part.tsx';
import * as texts from '../texts/index.ts';
import type { ShownSecrets } from '../credentials/held-secrets.tsx';
import { SendTest } from './send-test.tsx';

const t = texts.profile;

const ApiKeyDialog = lazyDialog(async () => (await import('../credentials/api-key-dialog.tsx')).ApiKeyDialog);

/** Examples that send a lead, and a form to send one from here. */
export function TryIt({
  held,
  onMade,
  onClear,
}: {
  held: ShownSecrets;
  onMade: (made: MadeCredential) => void;
  onClear: (id: string) => void;
}) {
  const queryClient = useQueryClient();
  const [creating, setCreating] = useState<'key' | 'page-key'>();
  const close = () => setCreating(undefined);
  const { addresses } = useSuspenseQuery(meQuery).data;
  const campaigns = useQuery(campaignsQuery);
  const { data: keys } = useQuery(apiKeysQuery);
  // The default campaign, which always takes leads.
  const campaignCode = campaigns.data?.find(({ isDefault }) => isDefault)?.code ?? 'default';
  const [api, setApi] = useState<Api>(apis[0]);
  const [language, setLanguage] = useState<Language>('curl');
  // Without a clipboard, the user copies the example by hand, so it is shown with the secrets.
  const [isMasked, setMasked] = useState(true);
  const languages: readonly Language[] = languagesOf[api];
  const shown = languages.includes(language) ? language : 'curl';

  const key = keys?.find(({ id }) => id === held.apiKey?.id);
  const page = key?.allowedOrigins[0];
  // A form shows its key to every visitor.
  const isPublic = shown === 'html';
  const isPageKey = key?.scope === 'intake' && page !== undefined;
  const secrets: Secrets = {
    apiKey: (!isPublic || isPageKey ? held.apiKey?.secret : undefined) ?? placeholders.apiKey,
    accessToken: held.accessToken?.secret ?? placeholders.accessToken,
  };
  const masked: Secrets = { apiKey: mask(secrets.apiKey), accessToken: mask(secrets.accessToken) };
  const write = (filled: Secrets) => {
    if (api === 'crm') {
      return writeSnippet(shown, crmRequest(addresses, filled, { campaignCode, ...exampleLead }));
    }
    return addresses.intake === undefined
      ? undefined
      : writeSnippet(shown, intakeRequest(addresses.intake, filled, exampleLead, page));
  };
  const snippet = write(secrets);
  const made = Object.values(held);

  return (
    <Stack component="section" gap="sm" aria-label={t.tryIt}>
      <div>
        <Title order={2} size="h4">
          {t.tryIt}
        </Title>
        <Text size="sm" c="dimmed">
          {t.tryLead}
        </Text>
      </div>
      <Group align="flex-end">
        <SegmentedControl
          aria-label={t.api}
          value={api}
          onChange={setApi}
          data={apis.map((value) => ({ value, label: t.apis[value] }))}
        />
        <Select
          label={t.language}
          w={160}
          allowDeselect={false}
          value={shown}
          onChange={(value) => setLanguage(languages.find((each) => each === value) ?? 'curl')}
          data={languages.map((value) => ({ value, label: t.languages[value] }))}
        />
      </Group>
      {made.length > 0 && (
        <Paper withBorder p="xs">
          <Group gap="xs">
            <Text size="sm">{t.holds}</Text>
            {made.map(({ id, name, secret }) => (
              <Group key={id} gap={4}>
                <Badge variant="default">
                  {name}: {mask(secret)}
                </Badge>
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={t.clearSecretOf(name)}
                  onClick={() => onClear(id)}
                >
                  {t.clearSecret}
                </Button>
              </Group>
            ))}
          </Group>
        </Paper>
      )}
      {api === 'crm' && campaigns.data === undefined ? (
        <QueryState query={campaigns} />
      ) : snippet === undefined ? (
        <Alert color="yellow">{t.noIntake}</Alert>
      ) : (
        <>
          {!isPublic && held.apiKey === undefined && keys?.every(({ state }) => state !== 'active') && (
            <Alert color="yellow" variant="light" title={t.needsKey}>
              <Button size="xs" variant="default" onClick={() => setCreating('key')}>
                {t.createKey}
              </Button>
            </Alert>
          )}
          {isPublic && !isPageKey && (
            <Alert color="yellow" variant="light" title={t.needsPageKey}>
              <Stack align="flex-start" gap="xs">
                <Text size="sm">
                  {held.apiKey === undefined ? t.pageKeyLead : t.otherKeyLead(held.apiKey.name)}
                </Text>
                <Button size="xs" variant="default" onClick={() => setCreating('page-key')}>
                  {t.createPageKey}
                </Button>
              </Stack>
            </Alert>
          )}
          <CodeBlock label={t.languages[shown]}>{(isMasked ? write(masked) : snippet) ?? ''}</CodeBlock>
          <Group justify="space-between">
            <Text size="sm" c="dimmed">
              {isMasked && made.length > 0 && (!isPublic || isPageKey) && t.masked}
            </Text>
            <CopyTextButton text={snippet} label={t.copyExample} onFailed={() => setMasked(false)} />
          </Group>
          {isPublic && (
            <Text size="sm" c="dimmed">
              {t.htmlNote}
            </Text>
          )}
          <SendTest key={api} api={api} held={held} addresses={addresses} />
        </>
      )}
      {creating !== undefined && (
        <ApiKeyDialog
          forPages={creating === 'page-key'}
          onClose={close}
          onMade={(credential) => {
            onMade(credential);
            void queryClient.invalidateQueries({ queryKey: credentialsKey });
          }}
        />
      )}
    </Stack>
  );
}
