import type { Lead } from '@leads/core/lead';
import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { newestLeadsQuery } from '../../api/leads.ts';
import * as texts from '../../texts/index.ts';
import { statusOf } from '../leads/lead-status.ts';

/** The pause after the last key before leads are searched, in milliseconds. */
const debounceMs = 300;

const labelOf = (lead: Lead) => `${lead.name}, ${texts.leads.statuses[statusOf(lead)]}`;

/** A field that finds one of the leads that the user can see, by the search of the lead list. */
export function LeadSelect({
  value,
  onChange,
  ...props
}: {
  label: string;
  description?: string;
  placeholder?: string;
  clearable?: boolean;
  allowDeselect?: boolean;
  /** The id of the chosen lead. */
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}) {
  const [search, setSearch] = useState('');
  const [searched] = useDebouncedValue(search, debounceMs);
  const [isOpen, setOpen] = useState(false);
  const isNeeded = isOpen || value !== undefined;
  // A lead that has just arrived can be found, too.
  const { data: found = [] } = useQuery({ ...newestLeadsQuery(searched), enabled: isNeeded, staleTime: 0 });
  const [last, setLast] = useState<Lead>();
  const ids = new Set(found.map(({ id }) => id));
  // The chosen lead keeps its label while the user searches another one.
  const leads = last === undefined || last.id !== value || ids.has(last.id) ? found : [...found, last];
  return (
    <Select
      {...props}
      searchable
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      // The service has searched.
      filter={({ options }) => options.filter((option) => 'value' in option && ids.has(option.value))}
      data={leads.map((lead) => ({ value: lead.id, label: labelOf(lead) }))}
      value={value ?? null}
      // The text of the chosen lead is no search.
      onSearchChange={(text) => setSearch(leads.some((lead) => labelOf(lead) === text) ? '' : text)}
      onChange={(id) => {
        setLast(leads.find((lead) => lead.id === id));
        onChange(id ?? undefined);
      }}
    />
  );
}
