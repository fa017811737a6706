import { Stack, Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useCommands } from '../../shell/commands.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import { PendingPage } from '../../shell/states.tsx';
import { useMay } from '../../shell/use-may.ts';
import { developers as t } from '../../texts/developers.ts';
import { useHeldSecrets } from '../../credentials/held-secrets.tsx';
import { lazyPart } from '../../shell/lazy-part.tsx';

const route = getRouteApi('/console/developers');
const tabs = ['keys', 'examples', 'requests', 'usage', 'integrations'] as const;

const ApiKeys = lazyPart(async () => (await import('../../credentials/api-keys.tsx')).ApiKeys);
const AccessTokens = lazyPart(async () => (await import('../../credentials/access-tokens.tsx')).AccessTokens);
const MemberCredentials = lazyPart(async () => (await import('./member-credentials.tsx')).MemberCredentials);
const TryIt = lazyPart(async () => (await import('../../examples/try-it.tsx')).TryIt);
const RequestLog = lazyPart(async () => (await import('./request-log.tsx')).RequestLog);
const Usage = lazyPart(async () => (await import('./usage.tsx')).Usage);
const Integrations = lazyPart(
  async () => (await import('../integrations/integrations-page.tsx')).Integrations,
);

/** The page of those who connect their systems: credentials, examples, the request log, usage, integrations. */
export function DevelopersPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const managesCredentials = useMay('manageCredentials');
  // Held by the page, so that the examples contain a key that was created in another tab.
  const { held, show, clear, dialog } = useHeldSecrets();
  const shown = tabs.find((each) => each === search.tab) ?? 'keys';
  const open = (tab: string | null) =>
    void navigate({
      search: ({ key }) => ({ ...(key !== undefined && { key }), ...(tab !== null && { tab }) }),
      resetScroll: false,
    });
  // The integrations are also a page of the navigation.
  const ownTabs = tabs.filter((each) => each !== 'integrations');
  useCommands(ownTabs.map((each) => ({ label: t.tabs[each], run: () => open(each) })));
  const panels = {
    keys: (
      <Stack gap="xl">
        <ApiKeys onMade={show} onRevoked={clear} />
        <AccessTokens onMade={show} onRevoked={clear} />
        {managesCredentials && <MemberCredentials onRevoked={clear} />}
      </Stack>
    ),
    examples: <TryIt held={held} onMade={show} onClear={clear} />,
    requests: <RequestLog />,
    usage: <Usage />,
    integrations: <Integrations />,
  };
  return (
    <>
      <PageHeading title={t.title} />
      <Tabs value={shown} keepMounted={false} onChange={open}>
        <Tabs.List mb="md">
          {tabs.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((each) => (
          <Tabs.Panel key={each} value={each}>
            <Suspense fallback={<PendingPage />}>{panels[each]}</Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
      {dialog}
    </>
  );
}
