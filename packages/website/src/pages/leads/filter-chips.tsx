import type { MemberView } from '@leads/core/workspace';
import { useQuery } from '@tanstack/react-query';
import { campaignsQuery } from '../../api/campaigns.ts';
import { membersQuery } from '../../api/members.ts';
import { paymentQuery } from '../../api/payments.ts';
import { type FilterChanges, type LeadFilters, statusesOf } from '../../leads/lead-search.ts';
import { campaignOption } from '../../shell/campaign-option.ts';
import { focusPage } from '../../shell/focus-page.ts';
import { IconX } from '../../shell/icons.tsx';
import { memberName } from '../../shell/member-options.ts';
import { exactTime, formatDay } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';
import { isStartOfDay, toDay } from './days.ts';
import classes from './leads.module.css';

const t = texts.leads;

/** The filters that apply, each with a button that removes it. */
export function FilterChips({
  filters,
  onChange,
}: {
  filters: LeadFilters;
  onChange: (changes: FilterChanges) => void;
}) {
  const { data: campaigns } = useQuery(campaignsQuery);
  const { data: members = [] } = useQuery({
    ...membersQuery,
    enabled: filters.user !== undefined || filters.assignee !== undefined,
  });
  const { data: payment } = useQuery({
    ...paymentQuery(filters.payment ?? ''),
    enabled: filters.payment !== undefined,
  });
  const chosen = statusesOf(filters);
  const { campaignCode, user, createdFrom, createdTo, updatedSince, source, q } = filters;
  const campaign = campaigns?.find(({ code }) => code === campaignCode);
  const chips: readonly (readonly [label: string, value: string | undefined, changes: FilterChanges])[] = [
    [t.search, q, { q: undefined }],
    ...chosen.map((status): [string, string, FilterChanges] => {
      const others = chosen.filter((each) => each !== status);
      return [t.status, t.statuses[status], { status: others.join(',') || undefined }];
    }),
    [
      t.campaign,
      campaign === undefined ? campaignCode : campaignOption(campaign).label,
      { campaignCode: undefined },
    ],
    [t.payment, payment === undefined ? filters.payment : String(payment.number), { payment: undefined }],
    [t.user, user && memberName(members, user), { user: undefined }],
    [t.createdFrom, createdFrom && describeBound(createdFrom), { createdFrom: undefined }],
    [t.createdTo, createdTo && describeBound(createdTo, -1), { createdTo: undefined }],
    [t.updatedSince, updatedSince && describeBound(updatedSince), { updatedSince: undefined }],
    [t.phoneFilter, filters.phone, { phone: undefined }],
    [t.s1, filters.s1, { s1: undefined }],
    [t.lpName, filters.lpName, { lpName: undefined }],
    [t.fields.country, filters.country, { country: undefined }],
    [t.source, source && t.sources[source], { source: undefined }],
    [t.assignee, assigneeName(filters.assignee, members), { assignee: undefined }],
    [t.callback, filters.callbackDue && t.due, { callbackDue: undefined }],
    [t.has, filters.has && t.columnNames[filters.has], { has: undefined }],
  ];
  const shown = chips.filter(([, value]) => value !== undefined && value !== '');
  if (shown.length === 0) return null;
  return (
    <ul className={classes['chips']} aria-label={t.appliedFilters}>
      {shown.map(([label, value, changes]) => (
        // A value becomes a name when its list is loaded. The chip stays the same element, so that it keeps the focus.
        <li key={label === t.status ? `${label} ${value}` : label}>
          <button
            type="button"
            aria-label={t.removeFilter(label, value ?? '')}
            onClick={() => {
              onChange(changes);
              focusPage();
            }}
          >
            <span>
              {label}: <b dir="auto">{value}</b>
            </span>
            <IconX size={14} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

function assigneeName(assignee: string | undefined, members: readonly MemberView[]): string | undefined {
  if (assignee === undefined) return undefined;
  if (assignee === 'me') return t.assignedToMe;
  if (assignee === 'none') return t.unassigned;
  return memberName(members, assignee);
}

/** Returns the day of a bound that is the start of a day in the user's time zone, and the exact time of another bound. */
function describeBound(iso: string, shiftMs = 0): string {
  return isStartOfDay(iso) ? formatDay(toDay(iso, shiftMs)) : exactTime(iso);
}
