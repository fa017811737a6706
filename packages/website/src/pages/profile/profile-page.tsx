import { Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { PageHeading } from '../../shell/page-heading.tsx';
import { texts } from '../../texts/index.ts';
import { AccountTab } from './account-tab.tsx';
import { CredentialsTab } from './credentials-tab.tsx';
import { SessionsTab } from './sessions-tab.tsx';

const t = texts.profile;
const route = getRouteApi('/console/profile');
const tabs = ['credentials', 'account', 'sessions'] as const;

export function ProfilePage() {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const shown = tabs.find((each) => each === tab) ?? 'credentials';
  return (
    <>
      <PageHeading title={t.title} />
      {/* Not kept mounted: secrets that a tab holds go with it. */}
      <Tabs
        value={shown}
        keepMounted={false}
        onChange={(value) => void navigate({ search: value === null ? {} : { tab: value } })}
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
