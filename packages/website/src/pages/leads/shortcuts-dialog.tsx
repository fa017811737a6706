import { Table, Text } from '@mantine/core';
import { Dialog } from '../../shell/dialog.tsx';
import { texts } from '../../texts/index.ts';

const t = texts.leads;

/** Lists the keyboard shortcuts. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title={t.shortcuts}>
      <Table
        withRowBorders={false}
        data={{ body: t.shortcutList.map(([keys, what]) => [<kbd key={keys}>{keys}</kbd>, what]) }}
      />
      <Text size="sm" c="dimmed" mt="sm">
        {t.shortcutsHint}
      </Text>
    </Dialog>
  );
}
