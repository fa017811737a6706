import { Button, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconPlus, IconSelector } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from './dialog.tsx';
import { account, type Me } from '../api/account.ts';
import { texts } from '../texts/index.ts';
import { NewWorkspaceForm } from './no-workspace.tsx';

const t = texts.common;

/** Which workspace is shown, and the way to another. */
export function WorkspaceMenu({ me }: { me: Me }) {
  const queryClient = useQueryClient();
  const [creating, { open, close }] = useDisclosure(false);
  const show = async (organizationId: string) => {
    await account('/organization/set-active', { organizationId });
    await queryClient.resetQueries();
  };
  return (
    <>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <Button
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
      {creating && (
        <Dialog onClose={close} title={t.newWorkspace}>
          <NewWorkspaceForm onCreated={close} />
        </Dialog>
      )}
    </>
  );
}
