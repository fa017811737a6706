import type { LeadHistoryEntry } from '@leads/core/lead';
import type { LeadPayout } from '@leads/core/payout';
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { leadHistoryQuery } from '../../api/leads.ts';
import { formatMoney } from '../../shell/money.ts';
import { QueryState } from '../../shell/states.tsx';
import { exactTime } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';
import { leadHistory } from '../../texts/lead-history.ts';
import { type ContactField, contactFields } from '../../leads/contact-fields.ts';
import classes from './leads.module.css';

const t = texts.leads;

/** Every change of a lead, the newest first. */
export function LeadHistory({ id, nameOf }: { id: string; nameOf: (userId: string) => string }) {
  const history = useQuery(leadHistoryQuery(id));
  if (history.data === undefined) return <QueryState query={history} />;
  return (
    <>
      <QueryState query={history} />
      <Stack gap="xs" component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
        {history.data.toReversed().map((entry) => (
          <li key={entry.version}>
            <Text size="sm">{describe(entry, nameOf)}</Text>
            {entry.reason !== undefined &&
              entry.userId !== undefined &&
              entry.reason !== 'assignee_removed' && (
                <Text size="sm" className={classes['wrap']}>
                  “{entry.reason}”
                </Text>
              )}
            {Object.entries(isHoldOnly(entry) ? {} : (entry.fields ?? {})).map(([name, { from, to }]) => (
              <Text key={name} size="xs" className={classes['wrap']}>
                {name === 'payout'
                  ? describePayout(from as LeadPayout | undefined, to as LeadPayout | undefined)
                  : leadHistory.fieldChange(
                      labelOf(name),
                      valueOf(name, from, nameOf),
                      valueOf(name, to, nameOf),
                    )}
              </Text>
            ))}
            <Text size="xs" c="dimmed">
              {exactTime(entry.createdAt)}
            </Text>
          </li>
        ))}
      </Stack>
    </>
  );
}

/** Whether a change has begun or ended a hold, and changed nothing else. */
const isHoldOnly = ({ type, fields = {} }: LeadHistoryEntry) =>
  type === 'updated' && Object.keys(fields).join() === 'holdReason';

function describe(entry: LeadHistoryEntry, nameOf: (userId: string) => string): string {
  const { type, from, to, reason, userId, fields } = entry;
  if (userId === undefined) return leadHistory.events.holdEnded;
  const userName = nameOf(userId);
  if (from !== undefined && to !== undefined) {
    return leadHistory.events.statusChanged(userName, t.statuses[from], t.statuses[to]);
  }
  if (isHoldOnly(entry)) {
    const heldFor = fields?.['holdReason']?.to;
    return typeof heldFor === 'string'
      ? leadHistory.events.held(userName, heldFor)
      : leadHistory.events.released(userName);
  }
  if (reason === 'assignee_removed') return leadHistory.events.assigneeRemoved(userName);
  if (type === 'note_added') return leadHistory.events.noteAdded(userName);
  return type === 'created' ? leadHistory.events.created(userName) : leadHistory.events.updated(userName);
}

function labelOf(field: string): string {
  if (field === 'assigneeId') return t.assignee;
  if (field === 'callbackAt') return t.callback;
  if (field === 'holdReason') return t.holdReason;
  return contactFields.some((name) => name === field) ? t.fields[field as ContactField] : field;
}

function describePayout(from: LeadPayout | undefined, to: LeadPayout | undefined): string {
  const textOf = (payout: LeadPayout) =>
    texts.payouts.ofRule(formatMoney(payout), texts.payouts.rules[payout.rule]);
  if (to !== undefined) return leadHistory.payoutSet(textOf(to), from && textOf(from));
  return from === undefined ? '' : leadHistory.payoutTakenAway(textOf(from));
}

function valueOf(field: string, value: unknown, nameOf: (userId: string) => string): string {
  if (value === undefined) return leadHistory.nothing;
  if (typeof value !== 'string') return JSON.stringify(value);
  if (field === 'assigneeId') return nameOf(value);
  return field === 'callbackAt' ? exactTime(value) : value;
}
