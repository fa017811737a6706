import { Group, Select, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { texts } from '../../texts/index.ts';
import { type OverviewSearch, type Preset, presets } from './overview-search.ts';

const t = texts.overview;
const ranges = [
  ...presets.map((value) => ({ value, label: t.presets[value] })),
  { value: 'custom', label: t.custom },
];

/** Current names of zones that browsers list under older names. */
const renamed = ['Asia/Ho_Chi_Minh', 'Asia/Kathmandu', 'Asia/Kolkata', 'Asia/Yangon', 'Europe/Kyiv'];

interface RangePickerProps {
  readonly search: OverviewSearch;
  /** The current range. */
  readonly days: { readonly from: string; readonly to: string; readonly zone: string };
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (search: OverviewSearch) => void;
}

/** Selects the days and the time zone. */
export function RangePicker({ search, days, faults, onChange }: RangePickerProps) {
  const isCustom = search.from !== undefined;
  const zone = search.zone === undefined ? {} : { zone: search.zone };
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
              ? { from: days.from, to: days.to, ...zone }
              : { range: value as Preset, ...zone },
          )
        }
      />
      {isCustom && (
        <CustomDays days={days} faults={faults} onChange={(from, to) => onChange({ from, to, ...zone })} />
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
  days,
  faults,
  onChange,
}: {
  days: RangePickerProps['days'];
  faults: RangePickerProps['faults'];
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
  // While the user types a year, browsers also report the years 2, 20 and 202.
  const offer = (first: string, last: string) => {
    if (first >= '1970' && first <= last) onChange(first, last);
  };
  return (
    <>
      <TextInput
        type="date"
        label={t.from}
        value={from}
        error={faults['from']}
        onChange={({ currentTarget: { value } }) => {
          setFrom(value);
          offer(value, to);
        }}
      />
      <TextInput
        type="date"
        label={t.to}
        value={to}
        error={isBackward ? t.toBeforeFrom : faults['to']}
        onChange={({ currentTarget: { value } }) => {
          setTo(value);
          offer(from, value);
        }}
      />
    </>
  );
}
