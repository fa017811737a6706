import { Button, type ButtonProps } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useEffect, useEffectEvent } from 'react';
import * as texts from '../texts/index.ts';
import { IconCheck, IconCopy } from './icons.tsx';

const t = texts.common;

/** Copies a text that need not be on the page, and reports the result. `onFailed` is called if the browser cannot copy. */
export function CopyTextButton({
  text,
  label = t.copy,
  onFailed,
  ...props
}: ButtonProps & { text: string; label?: string; onFailed?: () => void }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const isFailed = clipboard.error !== null;
  const reportFailure = useEffectEvent(() => onFailed?.());
  useEffect(() => {
    if (isFailed) reportFailure();
  }, [isFailed]);
  const said = isFailed ? t.copyByHand : clipboard.copied ? t.copied : label;
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
