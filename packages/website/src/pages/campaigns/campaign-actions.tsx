import { ActionIcon, Menu, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { CampaignChanges, CampaignView } from '@leads/core/campaign';
import { useState } from 'react';
import { campaignsQuery, updateCampaign } from '../../api/campaigns.ts';
import { IconDots } from '../../shell/icons.tsx';
import { LazyConfirmDialog } from '../../shell/lazy-confirm-dialog.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
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

/** The dialogs that the menu of a campaign opens. */
export type CampaignDialogName = 'integration' | Change;

/** A dialog, with the campaign that the user saw when it was opened. Another user may change the campaign meanwhile. */
export interface OpenCampaignDialog {
  readonly campaign: CampaignView;
  readonly name: CampaignDialogName;
}

/** The menu of a campaign, and the dialogs that it opens. */
export function CampaignActions({ campaign }: { campaign: CampaignView }) {
  const [dialog, setDialog] = useState<OpenCampaignDialog>();
  return (
    <>
      <CampaignMenu campaign={campaign} onChoose={(name) => setDialog({ campaign, name })} />
      {dialog !== undefined && <CampaignDialog {...dialog} onClose={() => setDialog(undefined)} />}
    </>
  );
}

export function CampaignMenu({
  campaign: { name, status, isDefault },
  onChoose,
}: {
  campaign: CampaignView;
  onChoose: (dialog: CampaignDialogName) => void;
}) {
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="default" size="var(--control-height)" aria-label={t.actionsOf(name)}>
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChoose('integration')}>{t.integrationPage}</Menu.Item>
        {status === 'active' && !isDefault && (
          <>
            <Menu.Item onClick={() => onChoose('default')}>{t.makeDefault}</Menu.Item>
            <Menu.Item onClick={() => onChoose('paused')}>{t.pause}</Menu.Item>
          </>
        )}
        {status === 'paused' && <Menu.Item onClick={() => onChoose('active')}>{t.resume}</Menu.Item>}
        {status !== 'archived' && !isDefault && (
          <Menu.Item onClick={() => onChoose('archived')}>{t.archive}</Menu.Item>
        )}
        {status === 'archived' && <Menu.Item onClick={() => onChoose('active')}>{t.restore}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}

export function CampaignDialog({
  campaign,
  name,
  onClose,
}: OpenCampaignDialog & {
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  if (name === 'integration') return <IntegrationDialog campaign={campaign} onClose={onClose} />;
  return (
    <LazyConfirmDialog
      title={t.changeTitles[name]}
      action={t.changeActions[name]}
      color={name === 'archived' ? 'red.9' : 'petrol'}
      onClose={onClose}
      onConfirm={async () => {
        try {
          await updateCampaign(campaign.id, { ...changes[name], ifStatus: campaign.status });
        } finally {
          // Also after a failure, because another user may have changed the campaign.
          await queryClient.invalidateQueries({ queryKey: campaignsQuery.queryKey });
        }
      }}
    >
      <Text size="sm">{t.changeLeads[name]}</Text>
    </LazyConfirmDialog>
  );
}
