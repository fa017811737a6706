import { Title } from '@mantine/core';

export function IntegrationPage() {
  return <Title order={1}>integration</Title>;
}
