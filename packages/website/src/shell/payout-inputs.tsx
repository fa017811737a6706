import { Group, NativeSelect, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import * as texts from '../texts/index.ts';
import type { Money } from './money.ts';
import { withChosen } from './with-chosen.ts';

const t = texts.payouts;

const names = new Intl.DisplayNames('en', { type: 'currency' });
const currencies = Intl.supportedValuesOf('currency').map((code) => ({
  value: code,
  label: `${code}: ${names.of(code)}`,
}));

/** The currency of a first payout. */
export const usualCurrency = 'EUR';

/** The amount and the currency of a payout. The server checks the amount, and its error is shown at it. */
export function PayoutInputs({
  value,
  onChange,
  error,
  description,
  size = 'sm',
  isRequired = false,
}: {
  value: Money;
  onChange: (value: Money) => void;
  error: ReactNode;
  description?: string | undefined;
  size?: 'xs' | 'sm';
  isRequired?: boolean;
}) {
  return (
    <Group grow align="flex-start" wrap="nowrap">
      <TextInput
        label={t.amount}
        description={description}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        error={error}
        size={size}
        required={isRequired}
        inputMode="decimal"
        autoComplete="off"
        placeholder={t.amountExample}
        value={value.amount}
        onChange={(event) => onChange({ ...value, amount: event.currentTarget.value })}
      />
      <NativeSelect
        label={t.currency}
        size={size}
        // The service may know a currency that the browser does not list. The field would show the first of the list.
        data={withChosen(currencies, [value.currency], (code) => code)}
        value={value.currency}
        onChange={(event) => onChange({ ...value, currency: event.currentTarget.value })}
      />
    </Group>
  );
}
