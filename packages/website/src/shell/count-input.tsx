import { NumberInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { common as t } from '../texts/common.ts';

/** Not by its value, because "1.000" is 1000 for some users. */
const isWhole = (typed: number | string) => /^\d*$/.test(String(typed));

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
  const input = useRef<HTMLInputElement>(null);
  const fault = isWhole(typed) ? Number(typed) > max && t.atMost(max) : t.wholeNumber;
  // The browser shows it when the form is submitted. Enter does that before the input lowers a number to its maximum.
  useEffect(() => input.current?.setCustomValidity(fault || ''), [fault]);
  return (
    <NumberInput
      ref={input}
      label={label}
      required
      min={1}
      max={max}
      // Decimals stay visible: without the separator, "12,5" would become 125.
      inputMode="numeric"
      allowNegative={false}
      // Enter submits a form before the input raises a number to its minimum.
      isAllowed={({ floatValue }) => floatValue !== 0}
      value={typed}
      onChange={(count) => {
        setTyped(count);
        if (count !== '' && isWhole(count)) onChange(Number(count));
      }}
    />
  );
}
