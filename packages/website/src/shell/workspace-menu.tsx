import type { Me } from '@leads/core/account';
import { Button, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { addressInWorkspace } from '../api/workspace-address.ts';
import * as texts from '../texts/index.ts';
import { IconCheck, IconPlus, IconSelector } from './icons.tsx';
import { lazyDialog } from './lazy-part.tsx';

const t = texts.common;

const NewWorkspaceDialog = lazyDialog(
  async () => (await import('./new-workspace-dialog.tsx')).NewWorkspaceDialog,
);

/** Shows the workspace of the page and links to the others. @param page the address of the page to open in them. */
export function WorkspaceMenu({ me, page }: { me: Me; page: string }) {
  const [creating, { open, close }] = useDisclosure(false);
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
            <Text span size="sm" truncate>
              {me.workspace?.name ?? t.none}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t.switchWorkspace}</Menu.Label>
          {me.workspaces.map(({ id, slug, name, role }) => (
            <Menu.Item
              key={id}
              // Not a link of the router: each workspace has its own document.
              component="a"
              href={addressInWorkspace(slug, page)}
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
