import { fieldOf, isInternal } from '@leads/core/lead/sort-fields';
import { Group, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { membersQuery } from '../../api/members.ts';
import {
  type FilterChanges,
  type LeadFilters,
  type LeadSort,
  sortChanges,
  sortOf,
} from '../../leads/lead-search.ts';
import { DateInput, hasWholeYear } from '../../shell/date-input.tsx';
import { assigneeOptions, memberOptions, withChosenMembers } from '../../shell/member-options.ts';
import { exactTime } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';
import { isStartOfDay, startOf, toDay } from './days.ts';
import classes from './leads.module.css';
import { useTyped } from '../../shell/use-typed.ts';
import { useMay } from '../../shell/use-may.ts';

const t = texts.leads;

export interface FiltersProps {
  readonly filters: LeadFilters;
  readonly onChange: (changes: FilterChanges) => void;
}

/** Applies the text of a field after a delay; `flush` applies it at once. */
export interface ApplyText {
  (name: TextFilterName, text: string, setSent: (text: string) => void): void;
  readonly flush: () => void;
}
type TextFilterName = 'phone' | 's1' | 'lpName' | 'country';

/** The filters behind the button. */
export function MoreFilters({ filters, onChange, applyText }: FiltersProps & { applyText: ApplyText }) {
  const seesAllLeads = useMay('readAllLeads');
  const seesInternals = useMay('readInternals');
  const { data: members = [] } = useQuery({ ...membersQuery, enabled: useMay('readMembers') });
  return (
    <>
      {seesAllLeads && (
        <ChoiceFilter
          name="user"
          label={t.user}
          placeholder={t.anyUser}
          searchable
          data={memberOptions(members, filters.user)}
          {...{ filters, onChange }}
        />
      )}
      {seesInternals && (
        <ChoiceFilter
          name="assignee"
          label={t.assignee}
          placeholder={t.anyAssignee}
          searchable
          data={withChosenMembers(
            [
              { value: 'me', label: t.assignedToMe },
              { value: 'none', label: t.unassigned },
              ...assigneeOptions(members),
            ],
            [filters.assignee],
            members,
          )}
          {...{ filters, onChange }}
        />
      )}
      {seesInternals && (
        <label className={classes['due']}>
          <input
            type="checkbox"
            className={classes['check']}
            checked={filters.callbackDue === 'true'}
            onChange={(event) => onChange({ callbackDue: event.currentTarget.checked ? 'true' : undefined })}
          />
          {t.dueOnly}
        </label>
      )}
      <Group grow gap="xs">
        <DayFilter
          label={t.createdFrom}
          bound={filters.createdFrom}
          onChange={(day) => onChange({ createdFrom: startOf(day, 0) })}
        />
        <DayFilter
          label={t.createdTo}
          bound={filters.createdTo}
          shiftMs={-1}
          onChange={(day) => onChange({ createdTo: startOf(day, 1) })}
        />
      </Group>
      <TextFilter name="phone" label={t.phoneFilter} hint={t.phoneFilterHint} {...{ filters, applyText }} />
      <TextFilter name="s1" label={t.s1} {...{ filters, applyText }} />
      <TextFilter name="lpName" label={t.lpName} {...{ filters, applyText }} />
      <TextFilter name="country" label={t.fields.country} {...{ filters, applyText }} />
      <ChoiceFilter
        name="source"
        label={t.source}
        placeholder={t.anySource}
        data={[
          { value: 'crm', label: t.sources.crm },
          { value: 'intake', label: t.sources.intake },
        ]}
        {...{ filters, onChange }}
      />
      <Select
        size="xs"
        label={t.sort}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        value={sortOf(filters)}
        onChange={(value) => value !== null && onChange(sortChanges(filters, value))}
        data={(Object.keys(t.sorts) as LeadSort[])
          .filter(
            (value) =>
              (seesInternals || !isInternal(fieldOf(value))) && (seesAllLeads || fieldOf(value) !== 'user'),
          )
          .map((value) => ({ value, label: t.sorts[value] }))}
      />
    </>
  );
}

/** The filter of a value that the user chooses from a list. */
function ChoiceFilter({
  name,
  filters,
  onChange,
  ...props
}: {
  name: 'user' | 'assignee' | 'source';
  label: string;
  placeholder: string;
  searchable?: boolean;
  data: readonly { readonly value: string; readonly label: string }[];
  filters: LeadFilters;
  onChange: (changes: FilterChanges) => void;
}) {
  return (
    <Select
      size="xs"
      clearable
      comboboxProps={{ withinPortal: false }}
      value={filters[name] ?? null}
      onChange={(value) => onChange({ [name]: value ?? undefined })}
      {...props}
    />
  );
}

/**
 * The filter of a day. It applies an empty day and one whose year is complete. Links may have another time of the day, which
 * is below the field.
 *
 * @param shiftMs the distance from the bound to a time on the shown day.
 */
function DayFilter({
  label,
  bound,
  shiftMs = 0,
  onChange,
}: {
  label: string;
  bound: string | undefined;
  shiftMs?: number;
  onChange: (day: string) => void;
}) {
  const { typed, setTyped, setSent } = useTyped(toDay(bound, shiftMs));
  return (
    <DateInput
      size="xs"
      label={label}
      inputWrapperOrder={['label', 'input', 'description']}
      description={bound !== undefined && !isStartOfDay(bound) && exactTime(bound)}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        if (value !== '' && !hasWholeYear(value)) return;
        setSent(value);
        onChange(value);
      }}
    />
  );
}

/** The filter of a text. It applies the text after a delay, or when the user leaves the field. */
function TextFilter({
  name,
  label,
  hint,
  filters,
  applyText,
}: {
  name: TextFilterName;
  label: string;
  hint?: string;
  filters: LeadFilters;
  applyText: ApplyText;
}) {
  const { typed, setTyped, setSent } = useTyped(filters[name] ?? '');
  return (
    <TextInput
      size="xs"
      label={label}
      placeholder={hint}
      maxLength={255}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        applyText(name, event.currentTarget.value.trim(), setSent);
      }}
      onBlur={() => applyText.flush()}
    />
  );
}
