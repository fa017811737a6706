import { Group, Select, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import * as texts from '../texts/index.ts';
import type { Money } from './money.ts';

const t = texts.payouts;

const names = new Intl.DisplayNames('en', { type: 'currency' });
const currencies = Intl.supportedValuesOf('currency').map((code) => ({
  value: code,
  label: `${code}: ${names.of(code)}`,
}));

/** The amount and the currency of a payout. The server checks the amount, and its error is shown at it. */
export function PayoutInputs({
  value,
  onChange,
  error,
  description,
  isRequired = false,
}: {
  value: Money;
  onChange: (value: Money) => void;
  error: ReactNode;
  description?: string;
  isRequired?: boolean;
}) {
  return (
    <Group grow align="flex-start" wrap="nowrap">
      <TextInput
        label={t.amount}
        description={description}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        error={error}
        required={isRequired}
        inputMode="decimal"
        autoComplete="off"
        placeholder={t.amountExample}
        value={value.amount}
        onChange={(event) => onChange({ ...value, amount: event.currentTarget.value })}
      />
      <Select
        label={t.currency}
        data={currencies}
        searchable
        limit={100}
        allowDeselect={false}
        nothingFoundMessage={t.noCurrency}
        value={value.currency}
        onChange={(currency) => currency !== null && onChange({ ...value, currency })}
      />
    </Group>
  );
}
