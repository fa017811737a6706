import { Button, Group, Indicator, Popover, Select, Stack } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { RefObject } from 'react';
import { campaignsQuery } from '../../api/campaigns.ts';
import { countFilters, statusesOf } from '../../leads/lead-search.ts';
import { statuses } from '../../leads/lead-status.ts';
import { campaignOptions } from '../../shell/campaign-option.ts';
import { IconFilter } from '../../shell/icons.tsx';
import * as texts from '../../texts/index.ts';
import classes from './leads.module.css';
import { type ApplyText, type FiltersProps, MoreFilters } from './more-filters.tsx';
import { SearchBox } from './search-box.tsx';
import { StatusIcon } from './status-icon.tsx';
import { debounceMs } from '../../shell/use-typed.ts';

const t = texts.leads;

/** The search field and the filters. On a narrow screen, all filters are behind a button. */
export function LeadFilterBar({
  searchBox,
  onClear,
  onLeaveSearch,
  ...props
}: FiltersProps & {
  searchBox: RefObject<HTMLInputElement | null>;
  onClear: () => void;
  onLeaveSearch: () => void;
}) {
  const { filters, onChange } = props;
  const { data: campaigns = [] } = useQuery(campaignsQuery);
  const isNarrow = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false });
  // Here, because the popover can close within the delay, and its content then ends.
  const applyText: ApplyText = useDebouncedCallback((name, text, setSent) => {
    setSent(text);
    onChange({ [name]: text || undefined });
  }, debounceMs);
  const count = countFilters(filters);
  // On a wide screen, status and campaign are beside the button.
  const { status: _status, campaignCode: _campaignCode, ...hidden } = filters;
  const hiddenCount = isNarrow ? count : countFilters(hidden);
  const status = <StatusFilter {...props} />;
  const campaign = (
    <Select
      size="xs"
      w={isNarrow ? 'auto' : 190}
      aria-label={t.campaign}
      {...(isNarrow && { label: t.campaign })}
      placeholder={t.anyCampaign}
      searchable
      clearable
      comboboxProps={{ withinPortal: !isNarrow }}
      value={filters.campaignCode ?? null}
      onChange={(value) => onChange({ campaignCode: value ?? undefined })}
      data={campaignOptions(campaigns, filters.campaignCode)}
    />
  );
  return (
    <Group gap="xs" wrap={isNarrow ? 'nowrap' : 'wrap'}>
      <SearchBox
        box={searchBox}
        text={filters.q ?? ''}
        onSearch={(q) => onChange({ q })}
        onLeave={onLeaveSearch}
      />
      {!isNarrow && status}
      {!isNarrow && campaign}
      <Popover
        position="bottom-end"
        width={320}
        trapFocus
        returnFocus
        withinPortal
        middlewares={{ flip: true, shift: true, size: true }}
      >
        <Indicator label={hiddenCount} size={16} disabled={hiddenCount === 0}>
          <Popover.Target>
            <Button size="xs" variant="default" leftSection={<IconFilter size={16} aria-hidden />}>
              {t.filters}
            </Button>
          </Popover.Target>
        </Indicator>
        <Popover.Dropdown style={{ overflowY: 'auto' }}>
          <Stack gap="xs">
            {isNarrow && status}
            {isNarrow && campaign}
            <MoreFilters {...props} applyText={applyText} />
          </Stack>
        </Popover.Dropdown>
      </Popover>
      {(count > 0 || filters.q !== undefined) && (
        <Button size="xs" variant="subtle" flex="none" px={isNarrow ? 6 : 'sm'} onClick={onClear}>
          {t.clearAll}
        </Button>
      )}
    </Group>
  );
}

/** Toggles of the statuses. Several can be pressed at once. None and all of them mean every status. */
function StatusFilter({ filters, onChange }: FiltersProps) {
  const chosen = statusesOf(filters);
  const choose = (list: readonly string[]) =>
    onChange({ status: list.length === 0 || list.length === statuses.length ? undefined : list.join(',') });
  return (
    <div role="group" aria-label={t.status} className={classes['toggles']}>
      <button type="button" aria-pressed={chosen.length === 0} onClick={() => choose([])}>
        {t.allStatuses}
      </button>
      {statuses.map((status) => {
        const isChosen = chosen.includes(status);
        return (
          <button
            key={status}
            type="button"
            aria-pressed={isChosen}
            onClick={() =>
              choose(statuses.filter((each) => (each === status ? !isChosen : chosen.includes(each))))
            }
          >
            <StatusIcon status={status} />
            {t.statuses[status]}
          </button>
        );
      })}
    </div>
  );
}
