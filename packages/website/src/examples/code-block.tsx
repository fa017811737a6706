import { Code } from '@mantine/core';

/** Code as it is, which scrolls within itself where it is wide. */
export function CodeBlock({ label, children }: { label: string; children: string }) {
  return (
    // Whoever has no mouse scrolls it by the keyboard.
    <Code block tabIndex={0} role="region" aria-label={label} mah={420} style={{ overflow: 'auto' }}>
      {children}
    </Code>
  );
}
