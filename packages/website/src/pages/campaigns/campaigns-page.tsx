import { Title } from '@mantine/core';

export function CampaignsPage() {
  return <Title order={1}>campaigns</Title>;
}
