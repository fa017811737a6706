import { ActionIcon, Badge, Button, Code, Menu, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import type { CampaignChanges, CampaignStatus, CampaignView, LandingPageView } from '@leads/core/campaign';
import { useState } from 'react';
import { campaignsQuery, updateCampaign } from '../../api/campaigns.ts';
import { ConfirmDialog } from '../../shell/confirm-dialog.tsx';
import { lazyDialog } from '../../shell/lazy-dialog.tsx';
import { RecordRow } from '../../shell/record-row.tsx';
import { texts } from '../../texts/index.ts';
import { readDraggedPage } from './dragged-page.ts';
import { writeWindow } from './write-window.ts';

const t = texts.campaigns;

const EditCampaignDialog = lazyDialog(
  async () => (await import('./campaign-dialogs.tsx')).EditCampaignDialog,
);
const IntegrationDialog = lazyDialog(
  async () => (await import('./integration-dialog.tsx')).IntegrationDialog,
);

const colors: Readonly<Record<CampaignStatus, string>> = {
  active: 'green',
  paused: 'yellow',
  archived: 'gray',
};

type Change = keyof typeof t.changeTitles;
const changes: Readonly<Record<Change, CampaignChanges>> = {
  active: { status: 'active' },
  paused: { status: 'paused' },
  archived: { status: 'archived' },
  default: { isDefault: true },
};

/** The number of landing pages listed for a campaign. */
const named = 3;

export function CampaignRow({
  campaign,
  landingPages,
  isComplete,
  isManaging,
  onDropPage,
}: {
  campaign: CampaignView;
  /** The loaded landing pages of the campaign. Absent while they load. */
  landingPages: readonly LandingPageView[] | undefined;
  /** Whether all landing pages are loaded. */
  isComplete: boolean;
  isManaging: boolean;
  /** Called when a landing page is dropped on the campaign. */
  onDropPage: (id: string) => void;
}) {
  const queryClient = useQueryClient();
  const [dialog, setDialog] = useState<'edit' | 'integration' | Change>();
  const [isOver, setIsOver] = useState(false);
  const close = () => setDialog(undefined);
  const { id, code, name, status, isDefault } = campaign;
  const takesPages = isManaging && status !== 'archived';
  const names = landingPages?.slice(0, named).map((page) => page.name) ?? [];
  const rest = (landingPages?.length ?? 0) - names.length;
  const noNames = landingPages === undefined ? texts.common.loading : isComplete ? t.none : t.notLoaded;

  return (
    <RecordRow
      data-campaign={code}
      style={{ outline: isOver ? '2px solid var(--mantine-primary-color-filled)' : 'none' }}
      onDragOver={(event) => {
        if (!takesPages || readDraggedPage(event) === undefined) return;
        // By default, the browser rejects drops.
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        setIsOver(false);
        const page = readDraggedPage(event);
        if (!takesPages || page === undefined) return;
        event.preventDefault();
        onDropPage(event.dataTransfer.getData(page));
      }}
      title={
        <>
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Badge variant="dot" color={colors[status]}>
            {t.statuses[status]}
          </Badge>
          {isDefault && <Badge variant="default">{t.isDefault}</Badge>}
        </>
      }
      facts={[
        [t.code, <Code key="code">{code}</Code>],
        [t.duplicates, writeWindow(campaign.duplicateWindowSeconds)],
        [
          t.landingPagesOf,
          names.length === 0 ? noNames : [names.join(', '), rest > 0 ? t.more(rest) : ''].join(' ').trim(),
        ],
      ]}
      actions={
        isManaging && (
          <>
            <Button variant="default" size="xs" aria-label={t.editOf(name)} onClick={() => setDialog('edit')}>
              {t.edit}
            </Button>
            <Menu position="bottom-end" width={220}>
              <Menu.Target>
                <ActionIcon variant="default" size={30} aria-label={t.actionsOf(name)}>
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
                {status === 'archived' && (
                  <Menu.Item onClick={() => setDialog('active')}>{t.restore}</Menu.Item>
                )}
              </Menu.Dropdown>
            </Menu>
          </>
        )
      }
    >
      {dialog === 'edit' && <EditCampaignDialog campaign={campaign} onClose={close} />}
      {dialog === 'integration' && <IntegrationDialog campaign={campaign} onClose={close} />}
      {dialog !== undefined && dialog !== 'edit' && dialog !== 'integration' && (
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
    </RecordRow>
  );
}
