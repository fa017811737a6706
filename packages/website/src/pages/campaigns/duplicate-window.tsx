import { Group, Select } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { CountInput } from '../../shell/count-input.tsx';
import * as texts from '../../texts/index.ts';
import { daySeconds } from './write-window.ts';

const t = texts.campaigns;
const longestDays = 3_650;

const isListed = (seconds: number) => Object.hasOwn(t.windows, String(seconds));

/** Chooses the duplicate window of a campaign, in seconds; 0 for none. */
export function DuplicateWindowInput({
  value,
  onChange,
  error,
}: {
  value: number;
  onChange: (seconds: number) => void;
  error: ReactNode;
}) {
  const [isCustom, setIsCustom] = useState(!isListed(value));
  return (
    <Group grow align="flex-start">
      <Select
        label={t.window}
        description={t.windowHint}
        error={error}
        allowDeselect={false}
        data={[
          ...Object.entries(t.windows).map(([seconds, label]) => ({ value: seconds, label })),
          { value: 'custom', label: t.customWindow },
        ]}
        value={isCustom ? 'custom' : String(value)}
        onChange={(chosen) => {
          setIsCustom(chosen === 'custom');
          if (chosen !== null && chosen !== 'custom') onChange(Number(chosen));
          else if (value === 0) onChange(daySeconds);
        }}
      />
      {isCustom && (
        <CountInput
          label={t.windowDays}
          max={longestDays}
          value={value / daySeconds}
          onChange={(days) => onChange(days * daySeconds)}
        />
      )}
    </Group>
  );
}
