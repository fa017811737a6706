import type { Me } from '@leads/core/account';
import {
  Button,
  Paper,
  PasswordInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { campaignsQuery } from '../api/campaigns.ts';
import { credentialsKey } from '../api/credentials.ts';
import { type TestResponse, tryCrm, tryIntake } from '../api/try-lead.ts';
import { CodeBlock } from './code-block.tsx';
import {
  type Api,
  crmRequest,
  type ExampleRequest,
  exampleLead,
  examplePage,
  intakeRequest,
  mask,
} from './example-request.ts';
import { useFormInput } from '../shell/discard-question.ts';
import { ButtonLink } from '../shell/links.tsx';
import { ErrorNotice } from '../shell/states.tsx';
import * as texts from '../texts/index.ts';
import type { ShownSecrets } from '../credentials/held-secrets.tsx';

const t = texts.profile;

/** Sends a real lead and shows the request and the response with masked secrets. */
export function SendTest({
  api,
  held,
  addresses,
}: {
  api: Api;
  held: ShownSecrets;
  addresses: Me['addresses'];
}) {
  const queryClient = useQueryClient();
  const { data: campaigns = [] } = useQuery(campaignsQuery);
  const active = campaigns.filter(({ status }) => status === 'active');
  const [campaign, setCampaign] = useState<string | null>(null);
  const [sent, setSent] = useState<ExampleRequest>();
  const [isTyped, setTyped] = useState(false);
  useFormInput(isTyped);
  // Reads the form directly. Mutation variables would keep the secrets in the cache.
  const send = useMutation<TestResponse, Error, () => Promise<TestResponse>>({
    mutationFn: (request) => request(),
    gcTime: 0,
    onSettled: () => queryClient.invalidateQueries({ queryKey: credentialsKey }),
  });

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const field = (name: string) => {
      const value = form.get(name);
      return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
    };
    const apiKey = held.apiKey?.secret ?? field('apiKey') ?? '';
    const accessToken = held.accessToken?.secret ?? field('accessToken') ?? '';
    const who = { name: field('name') ?? exampleLead.name, phone: field('phone') ?? exampleLead.phone };
    const shownKey = mask(apiKey);
    if (api === 'crm') {
      const lead = { campaignCode: field('campaign') ?? '', ...who };
      setSent(crmRequest(addresses, { apiKey: shownKey, accessToken: mask(accessToken) }, lead));
      const { headers } = crmRequest(addresses, { apiKey, accessToken }, lead);
      send.mutate(() => tryCrm(headers, lead));
      return;
    }
    const page = field('landingPage');
    const lead = { ...who, ...(page !== undefined && { lp_name: page }) };
    const origin = field('origin');
    const request = intakeRequest(addresses.intake ?? '', { apiKey: shownKey }, lead);
    setSent({ ...request, headers: { ...request.headers, ...(origin !== undefined && { Origin: origin }) } });
    send.mutate(() => tryIntake(apiKey, origin, lead));
  };

  return (
    <Paper withBorder p="md">
      <form onSubmit={submit} onInput={() => setTyped(true)} autoComplete="off">
        <Stack gap="sm">
          <div>
            <Title order={3} size="h5">
              {t.sendTest}
            </Title>
            <Text size="sm" c="dimmed">
              {t.sendTestLead}
            </Text>
          </div>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
            <SecretInput label={t.apiKey} name="apiKey" made={held.apiKey} />
            {api === 'crm' ? (
              <>
                <SecretInput label={t.accessToken} name="accessToken" made={held.accessToken} />
                <Select
                  label={t.campaign}
                  name="campaign"
                  allowDeselect={false}
                  value={campaign ?? active[0]?.code ?? null}
                  onChange={setCampaign}
                  data={active.map(({ code }) => code)}
                />
              </>
            ) : (
              <>
                <TextInput label={t.landingPage} name="landingPage" maxLength={255} />
                <TextInput
                  label={t.origin}
                  description={t.originHint}
                  name="origin"
                  placeholder={examplePage}
                  maxLength={255}
                  inputWrapperOrder={['label', 'input', 'description', 'error']}
                />
              </>
            )}
            <TextInput label={t.leadName} name="name" defaultValue={exampleLead.name} required />
            <TextInput label={t.leadPhone} name="phone" defaultValue={exampleLead.phone} required />
          </SimpleGrid>
          <Button type="submit" loading={send.isPending} style={{ alignSelf: 'flex-start' }}>
            {t.sendTest}
          </Button>
          {sent !== undefined && <CodeBlock label={t.request}>{writeRequest(sent)}</CodeBlock>}
          {send.isError && <ErrorNotice error={send.error} />}
          {send.data !== undefined && <Answer tried={send.data} />}
        </Stack>
      </form>
    </Paper>
  );
}

/** A field to paste a secret, unless one was just created. A pasted secret stays in the field only. */
function SecretInput({ label, name, made }: { label: string; name: string; made: ShownSecrets['apiKey'] }) {
  if (made !== undefined) return <TextInput label={label} value={t.madeJustNow(made.name)} readOnly />;
  return <PasswordInput label={label} name={name} required autoComplete="off" maxLength={4096} />;
}

function Answer({ tried: { status, headers, body, durationMs } }: { tried: TestResponse }) {
  const isGood = status >= 200 && status < 300;
  return (
    <Stack gap="xs" role="status">
      <Text fw={600} {...(!isGood && { c: 'var(--mantine-color-error)' })}>
        {t.answer(status, durationMs)}
      </Text>
      <CodeBlock label={t.answer(status, durationMs)}>
        {[...headers.map(([name, value]) => `${name}: ${value}`), '', pretty(body)].join('\n').trim()}
      </CodeBlock>
      {isGood && (
        <ButtonLink to="/leads" variant="default" size="xs" style={{ alignSelf: 'flex-start' }}>
          {t.seeLeads}
        </ButtonLink>
      )}
    </Stack>
  );
}

function writeRequest({ url, headers, lead }: ExampleRequest): string {
  return [
    `POST ${url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    JSON.stringify(lead, null, 2),
  ].join('\n');
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
