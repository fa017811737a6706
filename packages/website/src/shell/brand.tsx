import { Group, type GroupProps, Text } from '@mantine/core';
import * as texts from '../texts/index.ts';

/** The logo, which is also the icon of the browser's tab, and the name of the product. */
export function Brand(props: GroupProps) {
  return (
    <Group gap={8} wrap="nowrap" {...props}>
      <img src="/icon.svg" alt="" width={22} height={22} />
      <Text fw={600}>{texts.common.product}</Text>
    </Group>
  );
}
