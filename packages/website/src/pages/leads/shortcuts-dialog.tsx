import { Table, Text } from '@mantine/core';
import { Dialog } from '../../shell/dialog.tsx';
import * as texts from '../../texts/index.ts';
import { shortcuts as t } from '../../texts/shortcuts.ts';

/** Lists the keyboard shortcuts. @param canChange whether the user may select leads and change their status. */
export function ShortcutsDialog({ canChange, onClose }: { canChange: boolean; onClose: () => void }) {
  const shortcuts = canChange ? [...t.all, ...t.changes] : t.all;
  return (
    <Dialog onClose={onClose} title={texts.leads.shortcuts} closeOnClickOutside>
      <Table
        withRowBorders={false}
        data={{ body: shortcuts.map(([keys, what]) => [<kbd key={keys}>{keys}</kbd>, what]) }}
      />
      <Text size="sm" c="dimmed" mt="sm">
        {t.hint}
      </Text>
    </Dialog>
  );
}
