import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { common as t } from '../texts/common.ts';

/**
 * A required whole number of 1 or more. `onChange` receives only such numbers, because a form with another entry cannot be
 * submitted. `value` is the first number: give the input another `key` to replace what the user has typed.
 */
export function CountInput({
  label,
  max,
  value,
  onChange,
}: {
  label: string;
  max: number;
  value: number;
  onChange: (count: number) => void;
}) {
  const [typed, setTyped] = useState<number | string>(value);
  return (
    <NumberInput
      label={label}
      required
      min={1}
      max={max}
      // Without the decimal separator, "12,5" would become 125.
      pattern="\d+"
      title={t.wholeNumber}
      inputMode="numeric"
      allowNegative={false}
      // Enter submits a form before the input raises a number to its minimum.
      isAllowed={({ floatValue }) => floatValue !== 0}
      value={typed}
      onChange={(count) => {
        setTyped(count);
        if (count !== '' && Number.isInteger(Number(count))) onChange(Number(count));
      }}
    />
  );
}
