import { Button, type ButtonProps } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import * as texts from '../texts/index.ts';
import { IconCheck, IconCopy } from './icons.tsx';

const t = texts.common;

/** Copies a text that need not be on the page, and reports the result. */
export function CopyTextButton({
  text,
  label = t.copy,
  ...props
}: ButtonProps & { text: string; label?: string }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const said = clipboard.error === null ? (clipboard.copied ? t.copied : label) : t.copyByHand;
  const Icon = clipboard.copied ? IconCheck : IconCopy;
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon size={14} aria-hidden />}
      {...props}
      aria-live="polite"
      onClick={() => clipboard.copy(text)}
    >
      {said}
    </Button>
  );
}
