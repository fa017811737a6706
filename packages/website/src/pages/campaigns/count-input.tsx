import { NumberInput } from '@mantine/core';
import { useState } from 'react';

/**
 * A required whole number of 1 or more. `onChange` receives only such numbers, because a form with an empty number
 * cannot be submitted. `value` is the first number: give the input another `key` to replace what the user has typed.
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
      allowDecimal={false}
      allowNegative={false}
      // Enter submits a form before the input raises a number to its minimum.
      isAllowed={({ floatValue }) => floatValue !== 0}
      value={typed}
      onChange={(count) => {
        setTyped(count);
        if (count !== '') onChange(Number(count));
      }}
    />
  );
}
