import { Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '../../shell/icons.tsx';

/** Whether more of a figure is better, worse, or neither. */
export type Meaning = 'more-is-better' | 'more-is-worse' | 'neutral';

const colors = {
  better: 'var(--leads-color-better)',
  worse: 'var(--leads-color-worse)',
} as const;

/** A change of a figure. The color shows whether it is good, the arrow and the sign its direction. */
export function Delta({ change, text, meaning }: { change: number; text: string; meaning: Meaning }) {
  const Icon = change > 0 ? IconArrowUp : IconArrowDown;
  const isColored = change !== 0 && meaning !== 'neutral';
  const isBetter = change > 0 === (meaning === 'more-is-better');
  return (
    <Text
      span
      inherit
      fw={600}
      {...(isColored && { c: colors[isBetter ? 'better' : 'worse'] })}
      data-meaning={isColored ? (isBetter ? 'better' : 'worse') : 'neutral'}
    >
      {change !== 0 && <Icon size={13} aria-hidden style={{ verticalAlign: '-2px' }} />}
      {text}
    </Text>
  );
}
