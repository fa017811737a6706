import { Group, Select } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { CountInput } from '../../shell/count-input.tsx';
import * as texts from '../../texts/index.ts';
import { daySeconds, type DurationUnit, durationUnits, splitDuration } from './write-window.ts';

const t = texts.campaigns;
const longestSeconds = 365 * daySeconds;

/** The count of each unit when the user chooses it. */
const firstCounts: Readonly<Record<DurationUnit, number>> = { days: 14, hours: 24, minutes: 30, seconds: 60 };

/** Chooses the hold time of a campaign, in seconds; 0 turns it off. */
export function HoldTimeInput({
  value,
  onChange,
  error,
}: {
  value: number;
  onChange: (seconds: number) => void;
  error: ReactNode;
}) {
  // The unit stays while the user types a count such as 24 hours, which is also 1 day.
  const [unit, setUnit] = useState(() => (value === 0 ? undefined : splitDuration(value)[0]));
  const [hasSeconds] = useState(unit === 'seconds');
  const length = durationUnits.find(([each]) => each === unit)?.[1] ?? 1;
  return (
    <Group grow align="flex-start">
      <Select
        label={t.holdTime}
        description={t.holdTimeHint}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        error={error}
        allowDeselect={false}
        data={[
          { value: 'off', label: t.holdTimeOff },
          ...durationUnits
            .filter(([each]) => each !== 'seconds' || hasSeconds)
            .map(([each]) => ({ value: each, label: t.holdTimeUnits[each] })),
        ]}
        value={unit ?? 'off'}
        onChange={(chosen) => {
          const [next, nextLength] = durationUnits.find(([each]) => each === chosen) ?? [undefined, 0];
          setUnit(next);
          onChange(next === undefined ? 0 : firstCounts[next] * nextLength);
        }}
      />
      {unit !== undefined && (
        <CountInput
          key={unit}
          label={t.holdTimeIn(t.holdTimeUnits[unit].toLowerCase())}
          max={longestSeconds / length}
          value={value / length}
          onChange={(count) => onChange(count * length)}
        />
      )}
    </Group>
  );
}
