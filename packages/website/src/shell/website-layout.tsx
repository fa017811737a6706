import {
  AppShell,
  Box,
  Burger,
  Group,
  Loader,
  Menu,
  NavLink,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useLayoutEffect, useRef } from 'react';
import { account, meQuery } from '../api/account.ts';
import { askToDiscard } from './discard-question.ts';
import { showFailure } from './failure-notice.tsx';
import * as texts from '../texts/index.ts';
import { Brand } from './brand.tsx';
import { ConnectionBanner, useOnline } from './connection-banner.tsx';
import { densities, type Density, useDensity } from './density.ts';
import { destinations, destinationsOf } from './destinations.ts';
import { IconApi, IconChevronDown, IconLogout, IconUserCircle } from './icons.tsx';
import { NavigationLink } from './links.tsx';
import { focusPage } from './focus-page.ts';
import { FailingEndpoints } from './failing-endpoints.tsx';
import { IdentityDialog } from './identity-dialog.tsx';
import { PaletteButton } from './palette-button.tsx';
import { PendingPage } from './states.tsx';
import { WorkspaceMenu } from './workspace-menu.tsx';
import { lazyPart, showAbovePage } from './lazy-part.tsx';

const t = texts.common;

// No page shows a notification before it has shown its data.
const Notifications = lazyPart(
  async () => (await import('./notifications.tsx')).Notifications,
  showAbovePage,
);
const NoWorkspace = lazyPart(async () => (await import('./no-workspace.tsx')).NoWorkspace);

const barHeight = 52;

const schemes = ['light', 'dark', 'auto'] as const;

const isWithin = (pathname: string, to: string) => pathname === to || pathname.startsWith(`${to}/`);

/** Whether a page is of a destination. Some pages have an address outside of that of their destination. */
const isOf = (pathname: string, { to, ...others }: (typeof destinations)[number]) =>
  [to, ...('also' in others ? others.also : [])].some((each) => isWithin(pathname, each));

/** The layout of every page after sign-in. */
export function WebsiteLayout() {
  const { data: me } = useSuspenseQuery(meQuery);
  const [opened, { toggle, close }] = useDisclosure(false);
  const content = useRef<HTMLElement>(null);
  const isOnline = useOnline();
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const current = destinations.find((destination) => isOf(pathname, destination));
  const { workspace, lastWorkspaceId } = me;
  const [density] = useDensity();
  useLayoutEffect(() => {
    // Dialogs are outside of the layout.
    document.documentElement.dataset['density'] = density;
  }, [density]);
  useEffect(() => {
    if (workspace === undefined || workspace.id === lastWorkspaceId) return;
    // Addresses without a workspace open the last one. If this request fails, they open the one before.
    account('/organization/set-active', { organizationId: workspace.id }).catch(() => undefined);
  }, [workspace, lastWorkspaceId]);
  const leaveNavigation = () => {
    if (!opened) return;
    close();
    // The focused link is about to disappear.
    focusPage();
  };
  const shownPath = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const pathBefore = useRef<string>(undefined);
  useEffect(() => {
    const isFirst = pathBefore.current === undefined;
    pathBefore.current = shownPath;
    const focused = document.activeElement;
    // The focused element was on the page before.
    if (!isFirst && (focused === document.body || focused === content.current)) focusPage();
  }, [shownPath]);

  // Without a workspace, every destination shows the same page.
  const hasNavigation = workspace !== undefined;

  return (
    <AppShell
      header={{ height: isOnline ? barHeight : { base: barHeight + 68, sm: barHeight + 48 } }}
      navbar={{
        width: 208,
        breakpoint: 'sm',
        collapsed: { mobile: !opened || !hasNavigation, desktop: !hasNavigation },
      }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <IdentityDialog />
      <Suspense>
        <Notifications />
      </Suspense>
      <a className="skip-link" href="#content">
        {t.skipToContent}
      </a>
      <AppShell.Header>
        <Group h={barHeight} px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            {hasNavigation && (
              <Burger
                opened={opened}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={opened ? t.closeNavigation : t.openNavigation}
              />
            )}
            <Brand visibleFrom="xs" />
            <WorkspaceMenu me={me} page={current?.to ?? '/overview'} />
          </Group>
          <Group gap="sm" wrap="nowrap">
            {hasNavigation && <PaletteButton me={me} />}
            <UserMenu name={me.user.name} email={me.user.email} />
          </Group>
        </Group>
        {!isOnline && <ConnectionBanner />}
      </AppShell.Header>
      {/* Hidden, not only moved off screen, because the keyboard would still reach it. */}
      {hasNavigation && (
        <AppShell.Navbar p="xs" aria-label={t.navigation} {...(!opened && { visibleFrom: 'sm' })}>
          {destinationsOf(workspace.role).map((destination) => (
            <NavigationLink
              key={destination.to}
              to={destination.to}
              label={destination.label}
              leftSection={<destination.icon size={18} aria-hidden />}
              active={destination === current}
              aria-current={pathname === destination.to ? 'page' : undefined}
              onClick={leaveNavigation}
            />
          ))}
          <NavLink
            href="/docs"
            target="_blank"
            rel="noopener"
            label={t.apiReference}
            leftSection={<IconApi size={18} aria-hidden />}
            mt="auto"
          />
        </AppShell.Navbar>
      )}
      <AppShell.Main ref={content} id="content" tabIndex={-1}>
        <Box maw={1600} mx="auto">
          <Suspense fallback={<PendingPage />}>
            {!hasNavigation ? (
              <NoWorkspace workspaces={me.workspaces} />
            ) : (
              <>
                {/* The overview lists them itself. */}
                {pathname !== '/overview' && <FailingEndpoints />}
                <Outlet />
              </>
            )}
          </Suspense>
        </Box>
      </AppShell.Main>
    </AppShell>
  );
}

/** A part of a menu that chooses one of some values. The texts of the values have their names. */
function MenuChoice<Value extends (typeof schemes)[number] | Density>({
  label,
  choices,
  value,
  onChange,
}: {
  label: string;
  choices: readonly Value[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  return (
    <>
      <Menu.Label>{label}</Menu.Label>
      <Menu.RadioGroup
        value={value}
        onChange={(text) => {
          const chosen = choices.find((each) => each === text);
          if (chosen !== undefined) onChange(chosen);
        }}
      >
        {choices.map((each) => (
          <Menu.RadioItem key={each} value={each}>
            {t[each]}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </>
  );
}

function UserMenu({ name, email }: { name: string; email: string }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [density, setDensity] = useDensity();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const signOut = useMutation({
    mutationFn: () => account('/sign-out'),
    async onSuccess() {
      // The user has agreed to discard unsaved edits before the session ended.
      await navigate({ to: '/sign-in', ignoreBlocker: true });
      queryClient.clear();
    },
    onError: (error) => showFailure(error, () => void startSignOut()),
  });
  const startSignOut = async () => {
    if (await askToDiscard()) signOut.mutate();
  };
  return (
    <Menu position="bottom-end" width={240} withinPortal>
      <Menu.Target>
        <UnstyledButton aria-label={`${t.userMenu}: ${name}`} aria-busy={signOut.isPending}>
          <Group gap={4} wrap="nowrap">
            {signOut.isPending ? <Loader size={22} /> : <IconUserCircle size={22} aria-hidden />}
            <IconChevronDown size={14} aria-hidden />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" truncate>
            {name}
          </Text>
          <Text size="xs" truncate>
            {email}
          </Text>
        </Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUserCircle size={16} aria-hidden />}>
          {t.profile}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void startSignOut()}>
          {t.signOut}
        </Menu.Item>
        <Menu.Divider />
        <MenuChoice label={t.colorScheme} choices={schemes} value={colorScheme} onChange={setColorScheme} />
        <MenuChoice label={t.density} choices={densities} value={density} onChange={setDensity} />
      </Menu.Dropdown>
    </Menu>
  );
}
