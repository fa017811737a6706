import { Button, CloseButton, Group, Text } from '@mantine/core';
import type { MemberRole } from '@leads/core/credential';
import type { Lead, LeadStatus } from '@leads/core/lead';
import { texts } from '../../texts/index.ts';
import { commonStatuses } from './lead-status.ts';
import classes from './leads.module.css';

const t = texts.leads;

/** The actions on the selected leads. It offers only statuses that are allowed for all of them. */
export function BulkBar({
  leads,
  role,
  onChange,
  onClear,
}: {
  leads: readonly Lead[];
  role: MemberRole;
  onChange: (to: LeadStatus) => void;
  onClear: () => void;
}) {
  const possible = commonStatuses(leads, role);
  return (
    <Group gap="xs" className={classes['bulk']} role="toolbar" aria-label={t.selected(leads.length)}>
      <CloseButton size="sm" aria-label={t.clearSelection} onClick={onClear} />
      <Text size="sm" fw={600}>
        {t.selected(leads.length)}
      </Text>
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
    </Group>
  );
}
