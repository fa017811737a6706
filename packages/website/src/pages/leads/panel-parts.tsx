import { ActionIcon, Group, Stack, Text, Title, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { IconCheck, IconCopy } from '../../shell/icons.tsx';
import { isInModal } from '../../shell/modal.ts';
import { useCopy } from '../../shell/use-copy.ts';
import * as texts from '../../texts/index.ts';
import classes from './leads.module.css';

const t = texts.leads;

export function Section({
  title,
  action,
  children,
}: {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Stack gap="xs" component="section">
      <Group justify="space-between">
        <Title order={3} size="h5">
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </Stack>
  );
}

export function Fact({
  label,
  value,
  isCopied = false,
}: {
  label: string;
  value: string | undefined;
  isCopied?: boolean;
}) {
  if (value === undefined) return null;
  return (
    <Group gap="xs" wrap="nowrap" align="center">
      <Text size="sm" c="dimmed" w={110} flex="none">
        {label}
      </Text>
      <Text size="sm" className={classes['wrap']} dir="auto">
        {value}
      </Text>
      {isCopied && <Copy value={value} label={label} />}
    </Group>
  );
}

export function Copy({ value, label }: { value: string; label: string }) {
  const { said, isCopied, copy } = useCopy(value, t.copy(label), 1_000);
  return (
    <Tooltip label={said}>
      <ActionIcon size="sm" variant="subtle" aria-label={said} onClick={copy}>
        {isCopied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Focuses a part of the panel, unless the user is in a dialog above the page. */
export function takeFocus(part: HTMLElement | null): void {
  if (!isInModal(document.activeElement)) part?.focus({ preventScroll: true });
}
