import { useClipboard } from '@mantine/hooks';
import * as texts from '../texts/index.ts';

const t = texts.common;

/**
 * Copies a text to the clipboard.
 *
 * @param label the label of the button that copies.
 * @param shownMs how long the success is shown, in milliseconds.
 * @returns `said` is the label, or the result of the last copying. `isFailed` is true if the browser cannot copy.
 */
export function useCopy(text: string, label: string, shownMs: number) {
  const { copied, error, copy } = useClipboard({ timeout: shownMs });
  const isFailed = error !== null;
  const said = isFailed ? t.copyByHand : copied ? t.copied : label;
  return { said, isCopied: copied, isFailed, copy: () => copy(text) };
}
