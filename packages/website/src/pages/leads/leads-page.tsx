import { Title } from '@mantine/core';

export function LeadsPage() {
  return <Title order={1}>leads</Title>;
}
