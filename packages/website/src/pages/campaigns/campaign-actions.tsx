import { ActionIcon, Menu, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { CampaignChanges, CampaignView } from '@leads/core/campaign';
import { useState } from 'react';
import { campaignsQuery, updateCampaign } from '../../api/campaigns.ts';
import { ConfirmDialog } from '../../shell/confirm-dialog.tsx';
import { IconDots } from '../../shell/icons.tsx';
import { lazyDialog } from '../../shell/lazy-dialog.tsx';
import * as texts from '../../texts/index.ts';

const t = texts.campaigns;

const IntegrationDialog = lazyDialog(
  async () => (await import('./integration-dialog.tsx')).IntegrationDialog,
);

type Change = keyof typeof t.changeTitles;
const changes: Readonly<Record<Change, CampaignChanges>> = {
  active: { status: 'active' },
  paused: { status: 'paused' },
  archived: { status: 'archived' },
  default: { isDefault: true },
};

/** The menu of a campaign, and the dialogs that it opens. */
export function CampaignActions({ campaign }: { campaign: CampaignView }) {
  const queryClient = useQueryClient();
  const [dialog, setDialog] = useState<'integration' | Change>();
  const close = () => setDialog(undefined);
  const { id, name, status, isDefault } = campaign;
  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon variant="default" size="var(--control-height)" aria-label={t.actionsOf(name)}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setDialog('integration')}>{t.integrationPage}</Menu.Item>
          {status === 'active' && !isDefault && (
            <>
              <Menu.Item onClick={() => setDialog('default')}>{t.makeDefault}</Menu.Item>
              <Menu.Item onClick={() => setDialog('paused')}>{t.pause}</Menu.Item>
            </>
          )}
          {status === 'paused' && <Menu.Item onClick={() => setDialog('active')}>{t.resume}</Menu.Item>}
          {status !== 'archived' && !isDefault && (
            <Menu.Item onClick={() => setDialog('archived')}>{t.archive}</Menu.Item>
          )}
          {status === 'archived' && <Menu.Item onClick={() => setDialog('active')}>{t.restore}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'integration' && <IntegrationDialog campaign={campaign} onClose={close} />}
      {dialog !== undefined && dialog !== 'integration' && (
        <ConfirmDialog
          title={t.changeTitles[dialog]}
          action={t.changeActions[dialog]}
          color={dialog === 'archived' ? 'red.9' : 'petrol'}
          onClose={close}
          onConfirm={async () => {
            await updateCampaign(id, changes[dialog]);
            await queryClient.invalidateQueries({ queryKey: campaignsQuery.queryKey });
          }}
        >
          <Text size="sm">{t.changeLeads[dialog]}</Text>
        </ConfirmDialog>
      )}
    </>
  );
}
