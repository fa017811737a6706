import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CampaignView } from '@leads/core/campaign';
import { Dialog } from '../../shell/dialog.tsx';
import { integrationLinkQuery, removeIntegrationLink, renewIntegrationLink } from '../../api/campaigns.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { CopyTextButton } from '../../shell/copy-text-button.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';

const t = texts.campaigns;

/** The link of a campaign's integration page: create, copy, renew or delete it. */
export function IntegrationDialog({ campaign, onClose }: { campaign: CampaignView; onClose: () => void }) {
  const queryClient = useQueryClient();
  const query = integrationLinkQuery(campaign.id);
  const { data, error, refetch } = useQuery(query);
  const renew = async () => queryClient.setQueryData(query.queryKey, await renewIntegrationLink(campaign.id));
  const create = useMutation({ mutationFn: renew });
  return (
    <Dialog onClose={onClose} title={t.integrationOf(campaign.name)} size="lg" closeOnClickOutside>
      <Stack>
        <Text size="sm">{t.integrationLead}</Text>
        {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <PendingPage />}
        {data !== undefined && data.link === undefined && (
          <>
            <Text size="sm" c="dimmed">
              {t.noLink}
            </Text>
            {create.isError && <ErrorNotice error={create.error} />}
            <Group justify="flex-end">
              <Button loading={create.isPending} onClick={() => create.mutate()}>
                {t.createLink}
              </Button>
            </Group>
          </>
        )}
        {data?.link !== undefined && (
          <>
            <Code
              block
              tabIndex={0}
              role="region"
              aria-label={t.link}
              style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
            >
              {data.link}
            </Code>
            <Group justify="space-between" gap="xs">
              <Group gap="xs">
                <CopyTextButton text={data.link} />
                <Button
                  component="a"
                  // The path only, because the website may be open under another host name.
                  href={new URL(data.link).pathname}
                  target="_blank"
                  rel="noopener"
                  variant="default"
                  size="xs"
                >
                  {t.open}
                </Button>
              </Group>
              <Group gap="xs">
                <ConfirmButton
                  label={t.renewLink}
                  title={t.renewTitle}
                  action={t.renewLink}
                  onConfirm={renew}
                >
                  <Text size="sm">{t.renewLead}</Text>
                </ConfirmButton>
                <ConfirmButton
                  label={t.deletePage}
                  title={t.deletePageTitle}
                  action={t.deletePage}
                  onConfirm={async () =>
                    queryClient.setQueryData(query.queryKey, await removeIntegrationLink(campaign.id))
                  }
                >
                  <Text size="sm">{t.renewLead}</Text>
                </ConfirmButton>
              </Group>
            </Group>
          </>
        )}
      </Stack>
    </Dialog>
  );
}
