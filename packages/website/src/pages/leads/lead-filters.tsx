import { Button, CloseButton, Group, Indicator, Popover, Select, Stack, TextInput } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import type { MemberView } from '@leads/core/workspace';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useState } from 'react';
import { campaignsQuery } from '../../api/campaigns.ts';
import { membersQuery } from '../../api/members.ts';
import { paymentQuery } from '../../api/payments.ts';
import { campaignOption } from '../../shell/campaign-option.ts';
import { DateInput, hasWholeYear } from '../../shell/date-input.tsx';
import { IconFilter, IconSearch, IconX } from '../../shell/icons.tsx';
import { fieldOf, isInternal } from '@leads/core/lead/sort-fields';
import { assigneeOptions, memberOptions } from '../../shell/member-options.ts';
import { exactTime, formatDay } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';
import {
  countFilters,
  type FilterChanges,
  type LeadFilters,
  type LeadSort,
  sortChanges,
  sortOf,
  statusesOf,
} from '../../leads/lead-search.ts';
import { statuses } from '../../leads/lead-status.ts';
import { StatusIcon } from './status-icon.tsx';
import classes from './leads.module.css';

const t = texts.leads;
const debounceMs = 250;

interface FiltersProps {
  readonly filters: LeadFilters;
  readonly onChange: (changes: FilterChanges) => void;
  readonly onClear: () => void;
  /** Whether the user sees the leads of other members. */
  readonly isManager: boolean;
}

export function LeadFilterBar({
  searchBox,
  onLeaveSearch,
  ...props
}: FiltersProps & { searchBox: RefObject<HTMLInputElement | null>; onLeaveSearch: () => void }) {
  const { filters, onChange, onClear } = props;
  const { data: campaigns } = useQuery(campaignsQuery);
  const isNarrow = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false });
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
      data={campaigns?.map(campaignOption) ?? []}
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
            <MoreFilters {...props} />
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

/** The filters that apply, each with a button that removes it. */
export function FilterChips({ filters, onChange }: Pick<FiltersProps, 'filters' | 'onChange'>) {
  const { data: campaigns } = useQuery(campaignsQuery);
  const { data: members } = useQuery({
    ...membersQuery,
    enabled: filters.user !== undefined || filters.assignee !== undefined,
  });
  const { data: payment } = useQuery({
    ...paymentQuery(filters.payment ?? ''),
    enabled: filters.payment !== undefined,
  });
  const chosen = statusesOf(filters);
  const { campaignCode, user, createdFrom, createdTo, updatedSince, source, q } = filters;
  const campaign = campaigns?.find(({ code }) => code === campaignCode);
  const member = members?.find(({ userId }) => userId === user);
  const chips: readonly (readonly [label: string, value: string | undefined, changes: FilterChanges])[] = [
    [t.search, q, { q: undefined }],
    ...chosen.map((status): [string, string, FilterChanges] => {
      const others = chosen.filter((each) => each !== status);
      return [t.status, t.statuses[status], { status: others.join(',') || undefined }];
    }),
    [
      t.campaign,
      campaign === undefined ? campaignCode : campaignOption(campaign).label,
      { campaignCode: undefined },
    ],
    [t.payment, payment === undefined ? filters.payment : String(payment.number), { payment: undefined }],
    [t.user, member?.name ?? user, { user: undefined }],
    [t.createdFrom, createdFrom && describeBound(createdFrom), { createdFrom: undefined }],
    [t.createdTo, createdTo && describeBound(createdTo, -1), { createdTo: undefined }],
    [t.updatedSince, updatedSince && describeBound(updatedSince), { updatedSince: undefined }],
    [t.phoneFilter, filters.phone, { phone: undefined }],
    [t.s1, filters.s1, { s1: undefined }],
    [t.lpName, filters.lpName, { lpName: undefined }],
    [t.fields.country, filters.country, { country: undefined }],
    [t.source, source && t.sources[source], { source: undefined }],
    [t.assignee, assigneeName(filters.assignee, members), { assignee: undefined }],
    [t.callback, filters.callbackDue && t.due, { callbackDue: undefined }],
    [t.has, filters.has && t.columnNames[filters.has], { has: undefined }],
  ];
  const shown = chips.filter(([, value]) => value !== undefined && value !== '');
  if (shown.length === 0) return null;
  return (
    <ul className={classes['chips']} aria-label={t.appliedFilters}>
      {shown.map(([label, value, changes]) => (
        // A value becomes a name when its list is loaded. The chip stays the same element, so that it keeps the focus.
        <li key={label === t.status ? `${label} ${value}` : label}>
          <button
            type="button"
            aria-label={t.removeFilter(label, value ?? '')}
            onClick={() => onChange(changes)}
          >
            <span>
              {label}: <b dir="auto">{value}</b>
            </span>
            <IconX size={14} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

function assigneeName(
  assignee: string | undefined,
  members: readonly MemberView[] | undefined,
): string | undefined {
  if (assignee === 'me') return t.assignedToMe;
  if (assignee === 'none') return t.unassigned;
  return members?.find(({ userId }) => userId === assignee)?.name ?? assignee;
}

/**
 * The text of a field that the address follows later. A navigation to another address replaces the text. That to the
 * text that the field has sent does not, because the user can have typed on.
 */
function useTyped(text: string) {
  const [typed, setTyped] = useState(text);
  const [sent, setSent] = useState(text);
  const [known, setKnown] = useState(text);
  if (known !== text) {
    setKnown(text);
    if (text !== sent) {
      setTyped(text);
      setSent(text);
    }
  }
  return { typed, setTyped, setSent };
}

/** The search field. The address follows its text after a delay. */
function SearchBox({
  box,
  text,
  onSearch,
  onLeave,
}: {
  box: RefObject<HTMLInputElement | null>;
  text: string;
  onSearch: (q: string | undefined) => void;
  onLeave: () => void;
}) {
  const { typed, setTyped, setSent } = useTyped(text);
  const search = useDebouncedCallback((value: string) => {
    const q = value.trim();
    setSent(q);
    onSearch(q || undefined);
  }, debounceMs);
  return (
    <TextInput
      ref={box}
      size="xs"
      flex="1 1 220px"
      miw={0}
      type="search"
      aria-label={t.search}
      placeholder={t.searchHint}
      maxLength={255}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        typed !== '' && (
          <CloseButton
            size="sm"
            aria-label={t.clearSearch}
            onClick={() => {
              setTyped('');
              search('');
              search.flush();
              box.current?.focus();
            }}
          />
        )
      }
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        search(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && typed === '') onLeave();
        if (event.key === 'Enter' || event.key === 'ArrowDown') {
          search.flush();
          onLeave();
          event.preventDefault();
        }
      }}
    />
  );
}

function MoreFilters({ filters, onChange, isManager }: FiltersProps) {
  const { data: members = [] } = useQuery({ ...membersQuery, enabled: isManager });
  return (
    <>
      {isManager && (
        <Select
          size="xs"
          label={t.user}
          placeholder={t.anyUser}
          searchable
          clearable
          comboboxProps={{ withinPortal: false }}
          value={filters.user ?? null}
          onChange={(value) => onChange({ user: value ?? undefined })}
          data={memberOptions(members, filters.user)}
        />
      )}
      {isManager && (
        <Select
          size="xs"
          label={t.assignee}
          placeholder={t.anyAssignee}
          searchable
          clearable
          comboboxProps={{ withinPortal: false }}
          value={filters.assignee ?? null}
          onChange={(value) => onChange({ assignee: value ?? undefined })}
          data={[
            { value: 'me', label: t.assignedToMe },
            { value: 'none', label: t.unassigned },
            ...assigneeOptions(members),
          ]}
        />
      )}
      {isManager && (
        <label className={classes['due']}>
          <input
            type="checkbox"
            className={classes['check']}
            checked={filters.callbackDue === 'true'}
            onChange={(event) => onChange({ callbackDue: event.currentTarget.checked ? 'true' : undefined })}
          />
          {t.dueOnly}
        </label>
      )}
      <Group grow gap="xs">
        <DayFilter
          label={t.createdFrom}
          day={toDay(filters.createdFrom)}
          onChange={(day) => onChange({ createdFrom: startOf(day, 0) })}
        />
        <DayFilter
          label={t.createdTo}
          day={toDay(filters.createdTo, -1)}
          onChange={(day) => onChange({ createdTo: startOf(day, 1) })}
        />
      </Group>
      <TextFilter name="phone" label={t.phoneFilter} hint={t.phoneFilterHint} {...{ filters, onChange }} />
      <TextFilter name="s1" label={t.s1} {...{ filters, onChange }} />
      <TextFilter name="lpName" label={t.lpName} {...{ filters, onChange }} />
      <TextFilter name="country" label={t.fields.country} {...{ filters, onChange }} />
      <Select
        size="xs"
        label={t.source}
        placeholder={t.anySource}
        clearable
        comboboxProps={{ withinPortal: false }}
        value={filters.source ?? null}
        onChange={(value) => onChange({ source: value === 'crm' || value === 'intake' ? value : undefined })}
        data={[
          { value: 'crm', label: t.sources.crm },
          { value: 'intake', label: t.sources.intake },
        ]}
      />
      <Select
        size="xs"
        label={t.sort}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        value={sortOf(filters)}
        onChange={(value) => value !== null && onChange(sortChanges(filters, value))}
        data={(Object.keys(t.sorts) as LeadSort[])
          .filter((value) => isManager || !(isInternal(fieldOf(value)) || fieldOf(value) === 'user'))
          .map((value) => ({ value, label: t.sorts[value] }))}
      />
    </>
  );
}

/** The filter of a day. It applies an empty day and one whose year is complete. */
function DayFilter({
  label,
  day,
  onChange,
}: {
  label: string;
  day: string;
  onChange: (day: string) => void;
}) {
  const { typed, setTyped, setSent } = useTyped(day);
  return (
    <DateInput
      size="xs"
      label={label}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        if (value !== '' && !hasWholeYear(value)) return;
        setSent(value);
        onChange(value);
      }}
    />
  );
}

function TextFilter({
  name,
  label,
  hint,
  filters,
  onChange,
}: {
  name: 'phone' | 's1' | 'lpName' | 'country';
  label: string;
  hint?: string;
  filters: LeadFilters;
  onChange: (changes: FilterChanges) => void;
}) {
  const [typed, setTyped] = useState(filters[name] ?? '');
  const apply = useDebouncedCallback(
    (value: string) => onChange({ [name]: value.trim() || undefined }),
    debounceMs,
  );
  return (
    <TextInput
      size="xs"
      label={label}
      placeholder={hint}
      maxLength={255}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        apply(event.currentTarget.value);
      }}
    />
  );
}

/** Returns the day of a time in the user's time zone, as `YYYY-MM-DD`. */
function toDay(iso: string | undefined, shiftMs = 0): string {
  if (iso === undefined) return '';
  const timeMs = Date.parse(iso);
  if (Number.isNaN(timeMs)) return '';
  const date = new Date(timeMs + shiftMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the day of a bound that is the start of a day in the user's time zone, and the exact time of another bound. */
function describeBound(iso: string, shiftMs = 0): string {
  const isStart = startOf(toDay(iso), 0) === new Date(iso).toISOString();
  return isStart ? formatDay(toDay(iso, shiftMs)) : exactTime(iso);
}

/** Returns the start of a day in the user's time zone, or of the day `daysAfter` days later. */
function startOf(day: string, daysAfter: number): string | undefined {
  const [year, month, date] = day.split('-').map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  return new Date(year, month - 1, date + daysAfter).toISOString();
}
