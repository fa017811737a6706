import { ActionIcon, Menu } from '@mantine/core';
import { Fragment } from 'react';
import {
  IconColumns,
  IconDots,
  IconDownload,
  IconHistory,
  IconKeyboard,
  IconUpload,
} from '../../shell/icons.tsx';
import * as texts from '../../texts/index.ts';
import type { LeadsDialog } from './leads-dialogs.tsx';

const t = texts.leads;

/** An action of the page. It is also a command of the palette. */
interface PageAction {
  readonly label: string;
  readonly icon: typeof IconDots;
  readonly shortcut?: string;
  readonly run: () => void;
}

/** Returns the actions of the menu in their groups. Publishers have fewer. */
export function pageActions(
  canChange: boolean,
  openDialog: (dialog: LeadsDialog) => void,
  exportAll: (format: 'csv' | 'ndjson') => void,
): readonly (readonly PageAction[])[] {
  return [
    [
      { label: t.editColumns, icon: IconColumns, run: () => openDialog('columns') },
      { label: t.importCsv, icon: IconUpload, run: () => openDialog('import') },
      ...(canChange
        ? [{ label: t.importStatuses, icon: IconUpload, run: () => openDialog('import-statuses') }]
        : []),
      { label: t.exportCsv, icon: IconDownload, run: () => exportAll('csv') },
      { label: t.exportNdjson, icon: IconDownload, run: () => exportAll('ndjson') },
    ],
    [
      ...(canChange ? [{ label: t.jobs, icon: IconHistory, run: () => openDialog('jobs') }] : []),
      { label: t.shortcuts, icon: IconKeyboard, shortcut: '?', run: () => openDialog('shortcuts') },
    ],
  ];
}

/** The menu of the page. */
export function LeadsMenu({ actions }: { actions: ReturnType<typeof pageActions> }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size="var(--control-height)" aria-label={t.actions}>
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map((group, i) => (
          <Fragment key={group[0]?.label}>
            {i > 0 && <Menu.Divider />}
            {group.map(({ label, icon: Icon, run }) => (
              <Menu.Item key={label} leftSection={<Icon size={16} aria-hidden />} onClick={run}>
                {label}
              </Menu.Item>
            ))}
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
