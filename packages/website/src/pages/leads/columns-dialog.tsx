import { ActionIcon, Button, Checkbox, Group, Stack, Text, TextInput, VisuallyHidden } from '@mantine/core';
import type { MemberRole } from '@leads/core/credential';
import { type LeadColumn, leadColumns } from '@leads/core/lead/view-columns';
import { useState } from 'react';
import { Dialog } from '../../shell/dialog.tsx';
import { IconArrowDown, IconArrowUp } from '../../shell/icons.tsx';
import { columns as columnTexts } from '../../texts/columns.ts';
import * as texts from '../../texts/index.ts';
import { type Columns, maxColumnWidth, minColumnWidth, visibleColumns } from './columns.ts';
import classes from './leads.module.css';

const t = texts.leads;

/** Chooses the columns of the list, their order and their widths. The list behind it follows at once. */
export function ColumnsDialog({
  columns,
  role,
  onChange,
  onClose,
}: {
  columns: Columns;
  role: MemberRole;
  onChange: (columns: Columns | undefined) => void;
  onClose: () => void;
}) {
  const [moved, setMoved] = useState('');
  const { names, widths } = columns;
  const hidden = visibleColumns(leadColumns, role).filter((column) => !names.includes(column));
  const move = (column: LeadColumn, by: 1 | -1) => {
    const at = names.indexOf(column);
    const others = names.filter((each) => each !== column);
    onChange({ names: [...others.slice(0, at + by), column, ...others.slice(at + by)], widths });
    setMoved(columnTexts.moved(t.columnNames[column], at + by + 1));
  };
  const toggle = (column: LeadColumn, isShown: boolean) =>
    onChange({ names: isShown ? [...names, column] : names.filter((each) => each !== column), widths });
  const resize = (column: LeadColumn, text: string) => {
    const width = Math.min(maxColumnWidth, Math.round(Number(text)));
    const { [column]: _previous, ...others } = widths;
    onChange({ names, widths: width >= minColumnWidth ? { ...others, [column]: width } : others });
  };

  return (
    <Dialog onClose={onClose} title={columnTexts.title} closeOnClickOutside>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          {columnTexts.lead}
        </Text>
        <ul className={classes['plainList']}>
          {[...names, ...hidden].map((column) => {
            const at = names.indexOf(column);
            const name = t.columnNames[column];
            return (
              <li key={column}>
                <Group gap="xs" wrap="nowrap" mih={34}>
                  <Checkbox
                    flex={1}
                    miw={0}
                    label={name}
                    aria-label={columnTexts.show(name)}
                    checked={at !== -1}
                    // A list without columns shows nothing.
                    disabled={at !== -1 && names.length === 1}
                    onChange={(event) => toggle(column, event.currentTarget.checked)}
                  />
                  {at !== -1 && (
                    <>
                      <WidthInput
                        label={columnTexts.width(name)}
                        width={widths[column]}
                        onChange={(text) => resize(column, text)}
                      />
                      {/* Not disabled at the ends, because a disabled button loses the focus. */}
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        aria-label={columnTexts.moveUp(name)}
                        aria-disabled={at === 0}
                        onClick={() => at > 0 && move(column, -1)}
                      >
                        <IconArrowUp size={16} aria-hidden />
                      </ActionIcon>
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        aria-label={columnTexts.moveDown(name)}
                        aria-disabled={at === names.length - 1}
                        onClick={() => at < names.length - 1 && move(column, 1)}
                      >
                        <IconArrowDown size={16} aria-hidden />
                      </ActionIcon>
                    </>
                  )}
                </Group>
              </li>
            );
          })}
        </ul>
        <VisuallyHidden role="status">{moved}</VisuallyHidden>
        <Group justify="space-between">
          <Button variant="subtle" onClick={() => onChange(undefined)}>
            {columnTexts.usualColumns}
          </Button>
          <Button onClick={onClose}>{texts.common.close}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/**
 * The width of a column. Empty means that the list chooses it. The list follows when the user presses Enter or leaves the
 * field.
 */
function WidthInput({
  label,
  width,
  onChange,
}: {
  label: string;
  width: number | undefined;
  onChange: (text: string) => void;
}) {
  const shown = String(width ?? '');
  const [typed, setTyped] = useState<string>();
  // The list limits the width, so the field shows the width of the list again.
  const apply = () => {
    if (typed !== undefined && typed !== shown) onChange(typed);
    setTyped(undefined);
  };
  return (
    <TextInput
      size="xs"
      w={96}
      type="number"
      min={minColumnWidth}
      max={maxColumnWidth}
      step={10}
      aria-label={label}
      placeholder={columnTexts.automatic}
      value={typed ?? shown}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply();
      }}
    />
  );
}
