import { Code } from '@mantine/core';

/** A code block that scrolls horizontally if it is wide. */
export function CodeBlock({ label, children }: { label: string; children: string }) {
  return (
    // Focusable, so that the keyboard can scroll it.
    <Code block tabIndex={0} role="region" aria-label={label} mah={420} style={{ overflow: 'auto' }}>
      {children}
    </Code>
  );
}
