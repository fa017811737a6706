import { Title } from '@mantine/core';

export function MembersPage() {
  return <Title order={1}>members</Title>;
}
