import { Stack, Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useCommands } from '../../shell/commands.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import { useMay } from '../../shell/use-may.ts';
import { developers as t } from '../../texts/developers.ts';
import { AccessTokens } from '../../credentials/access-tokens.tsx';
import { ApiKeys } from '../../credentials/api-keys.tsx';
import { useHeldSecrets } from '../../credentials/held-secrets.tsx';
import { lazySection } from '../../shell/lazy-part.tsx';

const route = getRouteApi('/console/developers');
const tabs = ['keys', 'examples', 'requests', 'usage', 'integrations'] as const;

const MemberCredentials = lazySection(
  async () => (await import('./member-credentials.tsx')).MemberCredentials,
);
const TryIt = lazySection(async () => (await import('../../examples/try-it.tsx')).TryIt);
const RequestLog = lazySection(async () => (await import('./request-log.tsx')).RequestLog);
const Usage = lazySection(async () => (await import('./usage.tsx')).Usage);
const Integrations = lazySection(
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
            {panels[each]}
          </Tabs.Panel>
        ))}
      </Tabs>
      {dialog}
    </>
  );
}
