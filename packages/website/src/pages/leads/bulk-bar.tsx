import { Button, CloseButton, Group, Menu, Text } from '@mantine/core';
import type { MemberRole } from '@leads/core/credential';
import type { Lead, LeadStatus } from '@leads/core/lead';
import { IconChevronDown } from '../../shell/icons.tsx';
import * as texts from '../../texts/index.ts';
import { type LeadFilters, statusesOf } from '../../leads/lead-search.ts';
import { commonStatuses, nextStatuses, statuses } from '../../leads/lead-status.ts';
import classes from './leads.module.css';

const t = texts.leads;

/** All leads that match the filters, also those that are not loaded. */
export interface AllMatching {
  readonly total: number;
  readonly filters: LeadFilters;
}

/** The actions on the selected leads. It offers only statuses that are allowed for all of them. */
export function BulkBar({
  leads,
  role,
  all,
  onSelectAll,
  onChange,
  onAssign,
  onExport,
  onClear,
}: {
  leads: readonly Lead[];
  role: MemberRole;
  /** If the selection is all leads that match. The actions then start a job. */
  all: AllMatching | undefined;
  /** Selects all leads that match. Absent if there are no more than the loaded ones. */
  onSelectAll: { readonly total: number; readonly select: () => void } | undefined;
  onChange: (to: LeadStatus) => void;
  /** Asks for the assignee. */
  onAssign: () => void;
  onExport: (format: 'csv' | 'ndjson') => void;
  onClear: () => void;
}) {
  const possible = all === undefined ? commonStatuses(leads, role) : possibleOf(all.filters, role);
  const label = all === undefined ? t.selected(leads.length) : t.allMatching(all.total);
  return (
    <Group gap="xs" className={classes['bulk']} role="toolbar" aria-label={label}>
      <CloseButton size="sm" aria-label={t.clearSelection} onClick={onClear} />
      <Text size="sm" fw={600} role="status">
        {label}
      </Text>
      {all === undefined && onSelectAll !== undefined && (
        <Button size="compact-sm" variant="light" onClick={onSelectAll.select}>
          {t.selectAllMatching(onSelectAll.total)}
        </Button>
      )}
      {possible.map((to) => (
        <Button key={to} size="compact-sm" variant="default" onClick={() => onChange(to)}>
          {t.markAs(t.statuses[to])}
        </Button>
      ))}
      {possible.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.noCommonStatus}
        </Text>
      )}
      <Button size="compact-sm" variant="default" onClick={onAssign}>
        {t.assign}
      </Button>
      <Menu>
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            rightSection={<IconChevronDown size={14} aria-hidden />}
          >
            {t.exportSelection}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => onExport('csv')}>{t.exportCsv}</Menu.Item>
          <Menu.Item onClick={() => onExport('ndjson')}>{t.exportNdjson}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

/** Returns the statuses that some of the leads that match can get. A job reports the others. */
function possibleOf(filters: LeadFilters, role: MemberRole): readonly LeadStatus[] {
  const given = statusesOf(filters);
  const from = given.length === 0 ? statuses : given;
  return statuses.filter((to) => from.some((each) => nextStatuses(each, role).includes(to)));
}
