import { Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useCommands } from '../../shell/commands.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import * as texts from '../../texts/index.ts';
import { CredentialsTab } from './credentials-tab.tsx';
import { lazySection } from '../../shell/lazy-part.tsx';

const t = texts.profile;
const route = getRouteApi('/console/profile');
const tabs = ['credentials', 'account', 'sessions'] as const;

const AccountTab = lazySection(async () => (await import('./account-tab.tsx')).AccountTab);
const SessionsTab = lazySection(async () => (await import('./sessions-tab.tsx')).SessionsTab);

export function ProfilePage() {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const shown = tabs.find((each) => each === tab) ?? 'credentials';
  useCommands(
    tabs.map((each) => ({ label: t.tabs[each], run: () => void navigate({ search: { tab: each } }) })),
  );
  return (
    <>
      <PageHeading title={t.title} />
      {/* Not kept mounted, so that a tab's secrets disappear with it. */}
      <Tabs
        value={shown}
        keepMounted={false}
        onChange={(value) =>
          void navigate({ search: value === null ? {} : { tab: value }, resetScroll: false })
        }
      >
        <Tabs.List mb="md">
          {tabs.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="credentials">
          <CredentialsTab />
        </Tabs.Panel>
        <Tabs.Panel value="account">
          <AccountTab />
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <SessionsTab />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
