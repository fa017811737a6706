import type { IntegrationPageView } from '@leads/core/campaign';
import {
  Alert,
  Anchor,
  Badge,
  Box,
  Code,
  Container,
  Group,
  List,
  Select,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { integrationQuery } from '../../api/integration.ts';
import { CodeBlock } from '../../examples/code-block.tsx';
import {
  crmRequest,
  type ExampleRequest,
  exampleLead,
  intakeRequest,
  placeholders,
} from '../../examples/example-request.ts';
import { type Language, languagesOf, writeSnippet } from '../../examples/snippets.ts';
import { Brand } from '../../shell/brand.tsx';
import { CopyTextButton } from '../../shell/copy-text-button.tsx';
import { ButtonLink } from '../../shell/links.tsx';
import { PendingPage, QueryState } from '../../shell/states.tsx';
import { useTitle } from '../../shell/use-title.ts';
import * as texts from '../../texts/index.ts';

const t = texts.integration;
const route = getRouteApi('/integration/$token');
const languages = languagesOf.crm;

/** Shows how to send leads to a campaign to anyone with the link. The page contains no credentials. */
export function IntegrationPage() {
  const { token } = route.useParams();
  const query = useQuery(integrationQuery(token));
  const { data, error } = query;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Frame title={t.gone}>
        <Text>{t.goneLead}</Text>
      </Frame>
    );
  }
  const state = <QueryState query={query} />;
  if (data !== undefined) return <Instructions integration={data} state={state} />;
  if (error !== null) return <Frame title={t.unavailable}>{state}</Frame>;
  return <PendingPage />;
}

function Frame({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <Container component="main" size={860} py="xl" px="md">
      <Stack>
        <Brand />
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {children}
      </Stack>
    </Container>
  );
}

function Instructions({
  integration,
  state,
}: {
  integration: IntegrationPageView;
  /** The state of the query, which is an error if a reload has failed. */
  state: ReactNode;
}) {
  const { workspace, campaign, campaignCode, status, isDefault, landingPages, addresses } = integration;
  const [language, setLanguage] = useState<Language>('curl');
  const [landingPage] = landingPages;
  return (
    <Frame title={t.title(campaign)}>
      {state}
      <Group gap="xs">
        <Badge variant="dot" color={status === 'active' ? 'green' : 'gray'}>
          {t.statuses[status]}
        </Badge>
        <Text size="sm">{t.lead(workspace)}</Text>
      </Group>
      {status !== 'active' && (
        <Alert color="yellow" variant="light">
          {t.notActive}
        </Alert>
      )}
      <Group gap="xs">
        <Text size="sm">{t.code}</Text>
        <Code style={{ overflowWrap: 'anywhere' }}>{campaignCode}</Code>
        <CopyTextButton text={campaignCode} size="compact-xs" />
      </Group>
      <Section title={t.credentials}>
        <Text size="sm">{t.credentialsLead}</Text>
        <Group gap="sm">
          <ButtonLink to="/profile" variant="default" size="xs">
            {t.signIn}
          </ButtonLink>
          <Anchor href="/docs" size="sm">
            {t.reference}
          </Anchor>
        </Group>
      </Section>
      <Select
        label={t.language}
        w={160}
        allowDeselect={false}
        value={language}
        onChange={(value) => setLanguage(languages.find((each) => each === value) ?? 'curl')}
        data={languages.map((value) => ({ value, label: texts.profile.languages[value] }))}
      />
      <Section title={t.crm}>
        <Text size="sm">{t.crmLead(campaignCode)}</Text>
        <Snippet
          label={t.crm}
          language={language}
          request={crmRequest(addresses, placeholders, { campaignCode, ...exampleLead })}
        />
      </Section>
      {addresses.intake !== undefined && (
        <Section title={t.intake}>
          {landingPage !== undefined ? (
            <>
              <Text size="sm">{t.intakeLead}</Text>
              <List size="sm">
                {landingPages.map((name) => (
                  <List.Item key={name}>
                    <Code style={{ overflowWrap: 'anywhere' }}>{name}</Code>
                  </List.Item>
                ))}
              </List>
            </>
          ) : (
            <Text size="sm">{isDefault ? t.ofDefault : t.noLandingPages}</Text>
          )}
          {(landingPage !== undefined || isDefault) && (
            <Snippet
              label={t.intake}
              language={language}
              request={intakeRequest(addresses.intake, placeholders, {
                ...exampleLead,
                ...(landingPage !== undefined && { lp_name: landingPage }),
              })}
            />
          )}
        </Section>
      )}
    </Frame>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack component="section" gap="xs" mt="sm">
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function Snippet({
  label,
  language,
  request,
}: {
  label: string;
  language: Language;
  request: ExampleRequest;
}) {
  const snippet = writeSnippet(language, request);
  return (
    <Box>
      <CodeBlock label={label}>{snippet}</CodeBlock>
      <Group justify="flex-end" mt={4}>
        <CopyTextButton text={snippet} />
      </Group>
    </Box>
  );
}
