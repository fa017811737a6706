import { Alert, Badge, Box, Button, Group, Loader, Select, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { CampaignView, LandingPageView } from '@leads/core/campaign';
import { useEffect, useRef } from 'react';
import { landingPageCampaigns } from '../../shell/campaign-option.ts';
import { landingPagesQuery } from '../../api/campaigns.ts';
import { IconGripVertical, IconPlus } from '../../shell/icons.tsx';
import { inert } from '../../shell/inert.ts';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { NextPageButton } from '../../shell/next-page-button.tsx';
import * as texts from '../../texts/index.ts';
import { draggedPageType } from './dragged-page.ts';

const t = texts.campaigns;

const RegisterDialog = lazyDialog(
  async () => (await import('./register-page-dialog.tsx')).RegisterPageDialog,
);

/** A change of a landing page: its campaign, or whether it is dismissed. An empty code means no campaign. */
export type LandingPageChange = { readonly id: string } & (
  | { readonly campaignCode: string }
  | { readonly dismissed: boolean }
);

interface LandingPagesProps {
  readonly campaigns: readonly CampaignView[];
  readonly isManaging: boolean;
  /** The change that the service has not confirmed. */
  readonly pending: LandingPageChange | undefined;
  readonly onChange: (change: LandingPageChange) => void;
}

/** The landing pages of the workspace, those without a campaign first, and the campaigns that receive their leads. */
export function LandingPages(props: LandingPagesProps) {
  const [registering, { open, close }] = useDisclosure(false);
  const unmapped = useInfiniteQuery(landingPagesQuery('unmapped'));
  const mapped = useInfiniteQuery(landingPagesQuery('mapped'));
  const pending = useInfiniteQuery(landingPagesQuery('pending'));
  const dismissed = useInfiniteQuery(landingPagesQuery('dismissed'));
  const [showsDismissed, { toggle }] = useDisclosure(false);
  const queries = [unmapped, mapped, pending, dismissed];
  const isLoading = queries.some(({ data }) => data === undefined);
  const error = queries.find((query) => query.error !== null)?.error ?? null;
  const without = unmapped.data?.pages.flatMap(({ landingPages }) => landingPages) ?? [];
  const archived = new Set(props.campaigns.filter(({ status }) => status === 'archived').map(({ id }) => id));
  const isArchived = ({ campaignId }: LandingPageView) =>
    campaignId !== undefined && archived.has(campaignId);
  const allMapped = mapped.data?.pages.flatMap(({ landingPages }) => landingPages) ?? [];
  const having = allMapped.filter((page) => !isArchived(page));
  const misled = allMapped.filter(isArchived);
  const waiting = pending.data?.pages.flatMap(({ landingPages }) => landingPages) ?? [];
  const hidden = dismissed.data?.pages.flatMap(({ landingPages }) => landingPages) ?? [];
  const { toggleRef, onChange } = useMovedFocus(hidden, props);
  const listed = { ...props, onChange };
  return (
    <Stack component="section" id="landing-pages" gap="sm" miw={0} aria-label={t.landingPages}>
      <Group justify="space-between" align="flex-end">
        <Box flex="1 1 240px">
          <Title order={2} size="h4">
            {t.landingPages}
          </Title>
          <Text size="sm" c="dimmed">
            {props.isManaging ? t.landingPagesLead : t.landingPagesReadLead}
          </Text>
        </Box>
        {props.isManaging && (
          <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t.register}
          </Button>
        )}
      </Group>
      {error !== null && (
        <ErrorNotice
          error={error}
          onRetry={() => {
            for (const query of queries) void query.refetch();
          }}
        />
      )}
      {isLoading && error === null && <PendingPage />}
      {!isLoading && [...without, ...allMapped, ...waiting, ...hidden].length === 0 && (
        <Text size="sm">{t.noLandingPages}</Text>
      )}
      {waiting.length > 0 && (
        <>
          <Alert color="yellow" variant="light" title={t.pendingTitle}>
            {t.pendingLead(t.pages(waiting.length, pending.hasNextPage))}
          </Alert>
          <Pages {...listed} label={t.pendingTitle} pages={waiting} />
          <NextPageButton query={pending} label={t.loadMore} />
        </>
      )}
      {without.length > 0 && (
        <>
          <Alert color="yellow" variant="light" title={t.unmappedTitle}>
            {t.unmappedLead(
              t.pages(without.length, unmapped.hasNextPage),
              t.leads(
                without.reduce((sum, { leads }) => sum + leads, 0),
                unmapped.hasNextPage || without.some(({ leadsTruncated }) => leadsTruncated),
              ),
            )}
          </Alert>
          <Pages {...listed} label={t.unmappedTitle} pages={without} />
          <NextPageButton query={unmapped} label={t.loadMore} />
        </>
      )}
      {misled.length > 0 && (
        <>
          <Alert color="yellow" variant="light" title={t.archivedTitle}>
            {t.archivedLead(t.pages(misled.length, mapped.hasNextPage))}
          </Alert>
          <Pages {...listed} label={t.archivedTitle} pages={misled} />
          {having.length === 0 && <NextPageButton query={mapped} label={t.loadMore} />}
        </>
      )}
      {having.length > 0 && (
        <>
          <Title order={3} size="h5">
            {t.mapped}
          </Title>
          <Pages {...listed} label={t.mapped} pages={having} />
          <NextPageButton query={mapped} label={t.loadMore} />
        </>
      )}
      {hidden.length > 0 && (
        <>
          <Button ref={toggleRef} variant="subtle" aria-expanded={showsDismissed} onClick={toggle}>
            {showsDismissed
              ? t.hideDismissed
              : t.showDismissed(t.pages(hidden.length, dismissed.hasNextPage))}
          </Button>
          {showsDismissed && (
            <>
              <Text size="sm" c="dimmed">
                {t.dismissedLead}
              </Text>
              <Pages {...listed} label={t.dismissedTitle} pages={hidden} />
              <NextPageButton query={dismissed} label={t.loadMore} />
            </>
          )}
        </>
      )}
      {registering && <RegisterDialog campaigns={props.campaigns} onClose={close} />}
    </Stack>
  );
}

const rowId = (id: string) => `landing-page-${id}`;

/**
 * Keeps the focus at a landing page whose row moves to another list after a change.
 *
 * @param dismissed the landing pages whose list can be hidden. The focus then moves to the button that shows it.
 */
function useMovedFocus(
  dismissed: readonly LandingPageView[],
  { pending, onChange: change }: Pick<LandingPagesProps, 'pending' | 'onChange'>,
) {
  const toggleRef = useRef<HTMLButtonElement>(null);
  const changed = useRef<string>(undefined);
  // Runs after each change of a list, because the row leaves one list and enters another at different times.
  useEffect(() => {
    const id = changed.current;
    // Until the lists are up to date, the buttons of the row are disabled.
    if (id === undefined || pending?.id === id) return;
    const focused = document.activeElement;
    // Without the row, the focus is on the document or on a place that Tab does not reach.
    if (focused instanceof HTMLElement && focused.tabIndex >= 0) {
      // The user, or the question before the change, has moved the focus.
      if (focused.closest(`#${rowId(id)}`) === null) changed.current = undefined;
      return;
    }
    const row = document.getElementById(rowId(id));
    const button = dismissed.some((page) => page.id === id) ? toggleRef.current : null;
    const target = row?.querySelector<HTMLElement>('input, button') ?? button;
    if (target === null) return;
    changed.current = undefined;
    target.focus();
  });
  return {
    toggleRef,
    onChange: (landingPage: LandingPageChange) => {
      changed.current = landingPage.id;
      change(landingPage);
    },
  };
}

/** The buttons of a landing page without a campaign. */
const approvalsOf = ({ name, campaignId, pendingSince, dismissedAt }: LandingPageView) => {
  if (campaignId !== undefined) return [];
  if (dismissedAt !== undefined) {
    return [{ text: t.restore, label: t.restorePage(name), change: { dismissed: false } }];
  }
  const dismissal = { text: t.dismiss, label: t.dismissPage(name), change: { dismissed: true } };
  if (pendingSince === undefined) return [dismissal];
  return [{ text: t.approve, label: t.approvePage(name), change: { campaignCode: '' } }, dismissal];
};

function Pages({
  label,
  pages,
  campaigns,
  isManaging,
  pending,
  onChange,
}: LandingPagesProps & { label: string; pages: readonly LandingPageView[] }) {
  const choices = landingPageCampaigns(campaigns);
  const badgeOf = ({ campaignId, campaignCode }: LandingPageView) => {
    const isArchived = campaigns.some(({ id, status }) => id === campaignId && status === 'archived');
    if (campaignCode === undefined) return t.unmapped;
    return isArchived ? t.archivedCode(campaignCode) : campaignCode;
  };
  const shownCode = ({ id, campaignCode = '' }: LandingPageView) =>
    pending?.id === id && 'campaignCode' in pending ? pending.campaignCode : campaignCode;
  const isOwn = ({ id }: LandingPageView) => pending?.id === id;
  /** Whether the change of another page makes the buttons of a page inert. */
  const isInert = (page: LandingPageView) => pending !== undefined && !isOwn(page);
  const choicesFor = ({ campaignCode }: LandingPageView) =>
    campaignCode === undefined || choices.some(({ value }) => value === campaignCode)
      ? choices
      : [...choices, { value: campaignCode, label: t.archivedCode(campaignCode) }];
  return (
    <RecordList label={label}>
      {pages.map((page) => (
        <RecordRow
          key={page.id}
          id={rowId(page.id)}
          data-landing-page={page.name}
          draggable={isManaging}
          style={isManaging ? { cursor: 'grab' } : {}}
          onDragStart={(event) => {
            event.dataTransfer.setData(draggedPageType, page.id);
            event.dataTransfer.effectAllowed = 'move';
          }}
          title={
            <Group gap={6} wrap="nowrap" miw={0}>
              {isManaging && <IconGripVertical size={16} aria-hidden style={{ flex: 'none' }} />}
              <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                {page.name}
              </Text>
            </Group>
          }
          facts={[[texts.common.leads, t.countOf(page.leads, page.leadsTruncated)]]}
          actions={
            isManaging ? (
              <Group gap="xs" miw={0}>
                {approvalsOf(page).map(({ text, label: action, change }) => (
                  <Button
                    key={text}
                    size="xs"
                    variant="default"
                    aria-label={action}
                    loading={isOwn(page)}
                    {...inert(isInert(page))}
                    onClick={() => !isInert(page) && onChange({ id: page.id, ...change })}
                  >
                    {text}
                  </Button>
                ))}
                <Select
                  aria-label={t.campaignOf(page.name)}
                  size="xs"
                  w={220}
                  maw="100%"
                  searchable
                  clearable
                  placeholder={t.noCampaign}
                  data={choicesFor(page)}
                  value={shownCode(page) || null}
                  readOnly={pending !== undefined}
                  aria-busy={isOwn(page)}
                  {...(isOwn(page) && { rightSection: <Loader size={14} /> })}
                  onChange={(code) => onChange({ id: page.id, campaignCode: code ?? '' })}
                />
              </Group>
            ) : (
              <Badge variant="default">{badgeOf(page)}</Badge>
            )
          }
        />
      ))}
    </RecordList>
  );
}
