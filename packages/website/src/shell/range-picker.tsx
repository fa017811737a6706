import { Group, Select } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { OverviewRange } from '../api/overview.ts';
import { DateInput, hasWholeYear } from './date-input.tsx';
import * as texts from '../texts/index.ts';
import { type RangeSearch, type Preset, presets } from './range-search.ts';

const t = texts.overview;
const ranges = [
  ...presets.map((value) => ({ value, label: t.presets[value] })),
  { value: 'custom', label: t.custom },
];

/** Current names of zones that browsers list under older names. */
const renamed = ['Asia/Ho_Chi_Minh', 'Asia/Kathmandu', 'Asia/Kolkata', 'Asia/Yangon', 'Europe/Kyiv'];

interface RangePickerProps {
  readonly search: RangeSearch;
  /** The current range. */
  readonly days: OverviewRange;
  readonly faults: Readonly<Record<string, string>>;
  /** Whether other days to compare with can be selected. */
  readonly isComparing?: boolean;
  readonly onChange: (search: RangeSearch) => void;
}

/** Selects the days and the time zone. */
export function RangePicker({ search, days, faults, isComparing = true, onChange }: RangePickerProps) {
  const isCustom = search.from !== undefined;
  const { compareFrom, compareTo } = days;
  const isCompared = compareFrom !== undefined && compareTo !== undefined;
  const kept = {
    ...(search.zone !== undefined && { zone: search.zone }),
    ...(isCompared && { compareFrom, compareTo }),
  };
  const zones = useMemo(
    () => [...new Set(['UTC', days.zone, ...[...Intl.supportedValuesOf('timeZone'), ...renamed].toSorted()])],
    [days.zone],
  );
  return (
    <Group align="flex-start" gap="sm">
      <Select
        label={t.range}
        data={ranges}
        value={isCustom ? 'custom' : (search.range ?? '30d')}
        allowDeselect={false}
        w={{ base: '100%', xs: 180 }}
        onChange={(value) =>
          onChange(
            value === 'custom'
              ? { from: days.from, to: days.to, ...kept }
              : { range: value as Preset, ...kept },
          )
        }
      />
      {isCustom && (
        <CustomDays
          labels={[t.from, t.to]}
          days={days}
          faults={[faults['from'], faults['to']]}
          onChange={(from, to) => onChange({ from, to, ...kept })}
        />
      )}
      {isComparing && (
        <Select
          label={t.compare}
          data={[
            { value: 'before', label: t.compareBefore },
            { value: 'custom', label: t.custom },
          ]}
          value={isCompared ? 'custom' : 'before'}
          allowDeselect={false}
          w={{ base: '100%', xs: 180 }}
          onChange={(value) => {
            const { compareFrom: _, compareTo: __, ...others } = search;
            onChange(value === 'custom' ? { ...others, compareFrom: days.from, compareTo: days.to } : others);
          }}
        />
      )}
      {isCompared && (
        <CustomDays
          labels={[t.compareFrom, t.compareTo]}
          days={{ from: compareFrom, to: compareTo }}
          faults={[faults['compareFrom'], faults['compareTo']]}
          onChange={(from, to) => onChange({ ...search, compareFrom: from, compareTo: to })}
        />
      )}
      <Select
        label={t.zone}
        data={zones}
        value={days.zone}
        searchable
        limit={100}
        allowDeselect={false}
        nothingFoundMessage={t.zoneUnknown}
        error={faults['zone']}
        w={{ base: '100%', xs: 220 }}
        onChange={(value) => {
          const { zone: _, ...others } = search;
          onChange(value === null ? others : { ...others, zone: value });
        }}
      />
    </Group>
  );
}

function CustomDays({
  labels,
  days,
  faults,
  onChange,
}: {
  labels: readonly [from: string, to: string];
  days: Pick<OverviewRange, 'from' | 'to'>;
  faults: readonly [from: string | undefined, to: string | undefined];
  onChange: (from: string, to: string) => void;
}) {
  const [shown, setShown] = useState(days);
  const [from, setFrom] = useState(days.from);
  const [to, setTo] = useState(days.to);
  // Resets the values when the address changes, and keeps the fields with their focus.
  if (shown.from !== days.from || shown.to !== days.to) {
    setShown(days);
    setFrom(days.from);
    setTo(days.to);
  }
  const isBackward = from !== '' && to !== '' && to < from;
  const offer = (first: string, last: string) => {
    if (hasWholeYear(first) && first <= last) onChange(first, last);
  };
  return (
    <>
      <DateInput
        label={labels[0]}
        value={from}
        error={faults[0]}
        onChange={({ currentTarget: { value } }) => {
          setFrom(value);
          offer(value, to);
        }}
      />
      <DateInput
        label={labels[1]}
        value={to}
        error={isBackward ? t.toBeforeFrom : faults[1]}
        onChange={({ currentTarget: { value } }) => {
          setTo(value);
          offer(from, value);
        }}
      />
    </>
  );
}
