import type { Lead } from '@leads/core/lead';
import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { leadNameQuery, newestLeadsQuery } from '../../api/leads.ts';
import { shownName } from '../../leads/lead-name.ts';
import * as texts from '../../texts/index.ts';
import { statusOf } from '../../leads/lead-status.ts';

/** The pause after the last key before leads are searched, in milliseconds. */
const debounceMs = 300;

interface Choice {
  /** The id of the lead. */
  readonly value: string;
  readonly label: string;
}

const labelOf = (lead: Lead) => `${shownName(lead.name)}, ${texts.leads.statuses[statusOf(lead)]}`;

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
  const { data: found = [], error } = useQuery({
    ...newestLeadsQuery(searched),
    enabled: isNeeded,
    staleTime: 0,
  });
  const [last, setLast] = useState<Choice>();
  const choices = found.map((lead): Choice => ({ value: lead.id, label: labelOf(lead) }));
  const ids = new Set(found.map(({ id }) => id));
  // The chosen lead can be older than the leads that are found, for example after a reload or while the user searches.
  const isOther = value !== undefined && !ids.has(value);
  const { data: name } = useQuery({
    ...leadNameQuery(value ?? ''),
    enabled: isOther && last?.value !== value,
  });
  if (isOther) choices.push(last?.value === value ? last : { value, label: name ? shownName(name) : value });
  return (
    <Select
      {...props}
      // Opening the list repeats the request.
      error={error?.message}
      searchable
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      // The service has searched.
      filter={({ options }) => options.filter((option) => 'value' in option && ids.has(option.value))}
      data={choices}
      value={value ?? null}
      // The text of the chosen lead is no search.
      onSearchChange={(text) => setSearch(choices.some(({ label }) => label === text) ? '' : text)}
      onChange={(id) => {
        setLast(choices.find((choice) => choice.value === id));
        onChange(id ?? undefined);
      }}
    />
  );
}
