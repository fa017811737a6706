import type { Me } from '@leads/core/account';
import { Button, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconCheck, IconPlus, IconSelector } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { account } from '../api/account.ts';
import { texts } from '../texts/index.ts';
import { lazyDialog } from './lazy-dialog.tsx';
import { changeWorkspace, takeReloadReason } from './workspace-reload.ts';

const t = texts.common;

const NewWorkspaceDialog = lazyDialog(
  async () => (await import('./new-workspace-dialog.tsx')).NewWorkspaceDialog,
);

/** Shows the current workspace and switches to another. */
export function WorkspaceMenu({ me }: { me: Me }) {
  const [creating, { open, close }] = useDisclosure(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const reason = takeReloadReason();
    // Announced by screen readers.
    if (reason !== undefined) button.current?.focus();
    if (reason === 'elsewhere') {
      notifications.show({ color: 'yellow', autoClose: false, message: t.startedOver });
    }
  }, []);
  const show = (organizationId: string) =>
    changeWorkspace(() => account('/organization/set-active', { organizationId }));
  return (
    <>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <Button
            ref={button}
            variant="default"
            size="compact-md"
            rightSection={<IconSelector size={16} aria-hidden />}
            aria-label={`${t.switchWorkspace}: ${me.workspace?.name ?? t.none}`}
            maw={260}
          >
            <Text size="sm" truncate>
              {me.workspace?.name ?? t.none}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t.switchWorkspace}</Menu.Label>
          {me.workspaces.map(({ id, name, role }) => (
            <Menu.Item
              key={id}
              onClick={() => void show(id)}
              rightSection={id === me.workspace?.id && <IconCheck size={16} aria-hidden />}
            >
              <Text size="sm" truncate>
                {name}
              </Text>
              <Text size="xs" c="dimmed">
                {t.roles[role]}
              </Text>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t.newWorkspace}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {creating && <NewWorkspaceDialog onClose={close} />}
    </>
  );
}
