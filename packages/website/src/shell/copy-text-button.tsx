import { Button, type ButtonProps } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import * as texts from '../texts/index.ts';
import { IconCheck, IconCopy } from './icons.tsx';
import { useCopy } from './use-copy.ts';

const t = texts.common;

/** Copies a text that need not be on the page, and reports the result. `onFailed` is called if the browser cannot copy. */
export function CopyTextButton({
  text,
  label = t.copy,
  onFailed,
  ...props
}: ButtonProps & { text: string; label?: string; onFailed?: () => void }) {
  const { said, isCopied, isFailed, copy } = useCopy(text, label, 2_000);
  const reportFailure = useEffectEvent(() => onFailed?.());
  useEffect(() => {
    if (isFailed) reportFailure();
  }, [isFailed]);
  const Icon = isCopied ? IconCheck : IconCopy;
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon size={14} aria-hidden />}
      {...props}
      aria-live="polite"
      onClick={copy}
    >
      {said}
    </Button>
  );
}
