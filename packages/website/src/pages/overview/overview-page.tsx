import { Title } from '@mantine/core';

export function OverviewPage() {
  return <Title order={1}>overview</Title>;
}
