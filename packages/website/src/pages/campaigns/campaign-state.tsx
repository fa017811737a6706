import { Badge } from '@mantine/core';
import type { CampaignStatus, CampaignView } from '@leads/core/campaign';
import type { CampaignFigures } from '@leads/core/overview';
import { IconAlertTriangle } from '../../shell/icons.tsx';
import { useNow } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';

const t = texts.campaigns;

const colors: Readonly<Record<CampaignStatus, string>> = {
  active: 'green',
  paused: 'yellow',
  archived: 'gray',
};

/** The status of a campaign, and whether it is the default. */
export function CampaignState({ campaign: { status, isDefault } }: { campaign: CampaignView }) {
  return (
    <>
      <Badge variant="dot" color={colors[status]}>
        {t.statuses[status]}
      </Badge>
      {isDefault && <Badge variant="default">{t.isDefault}</Badge>}
    </>
  );
}

const dayMs = 86_400_000;
/** An active campaign without a lead for this time has a warning, in days. */
const quietDays = 7;

/** Returns what may be wrong with a campaign, in words. */
function warningsOf(
  { status, isDefault, landingPages, lastLeadAt, createdAt }: CampaignFigures,
  now: number,
): string[] {
  const days = Math.floor((now - Date.parse(lastLeadAt ?? createdAt)) / dayMs);
  const isQuiet = days >= quietDays;
  const warnings: string[] = [];
  if (status === 'archived' && landingPages !== undefined && landingPages > 0) {
    warnings.push(t.warnings.archived(landingPages));
  }
  if (status !== 'active') return warnings;
  if (isQuiet) warnings.push(lastLeadAt === undefined ? t.warnings.noLead : t.warnings.quiet(days));
  // A campaign that receives leads by its code needs no landing page.
  if (landingPages === 0 && !isDefault && (isQuiet || lastLeadAt === undefined)) {
    warnings.push(t.warnings.noLandingPage);
  }
  return warnings;
}

export function CampaignWarnings({ campaign }: { campaign: CampaignFigures }) {
  return warningsOf(campaign, useNow()).map((warning) => (
    <Badge
      key={warning}
      variant="default"
      // The whole warning is shown, on several lines if necessary.
      styles={{ root: { height: 'auto', flex: 'none' }, label: { whiteSpace: 'normal' } }}
      leftSection={
        <IconAlertTriangle size={12} aria-hidden color="var(--mantine-color-yellow-light-color)" />
      }
    >
      {warning}
    </Badge>
  ));
}
