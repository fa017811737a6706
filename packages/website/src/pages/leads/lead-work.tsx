import type { MemberView } from '@leads/core/workspace';
import { Button, Group, Loader, NativeSelect, TextInput } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { LeadVersion } from '../../api/leads.ts';
import { assigneeOptions, withChosenMembers } from '../../shell/member-options.ts';
import { ErrorNotice, QueryState } from '../../shell/states.tsx';
import { toIso, toLocal } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';
import { Section } from './panel-parts.tsx';
import { useUnsaved } from './unsaved-edits.tsx';
import { useLeadEdit } from './use-lead-edit.ts';

const t = texts.leads;

/** The assignee and the call-back of a lead. */
export function LeadWork({
  found,
  members: query,
}: {
  found: LeadVersion;
  members: UseQueryResult<readonly MemberView[]>;
}) {
  const { lead } = found;
  const [draft, setDraft] = useState<string>();
  const stored = lead.callbackAt === undefined ? '' : toLocal(new Date(lead.callbackAt));
  const isUnsaved = draft !== undefined && draft !== stored;
  useUnsaved('callback', isUnsaved);
  const save = useLeadEdit(lead.id, ({ callbackAt }) => {
    // The user may have changed the time during the request.
    setDraft((now) => (now !== undefined && isoOf(now) === callbackAt ? undefined : now));
  });
  const { assigneeId = '' } = lead;
  const { data: members = [] } = query;
  const isAssigning = save.isPending && save.variables.assigneeId !== undefined;
  const saveCallback = (value: string) => save.mutate({ callbackAt: isoOf(value) });
  return (
    <Section title={t.work}>
      <NativeSelect
        size="xs"
        label={t.assignee}
        value={save.isPending ? (save.variables.assigneeId ?? assigneeId) : assigneeId}
        // Not disabled, because that would remove the focus.
        aria-busy={isAssigning}
        {...(isAssigning && { rightSection: <Loader size={14} /> })}
        data={withChosenMembers(
          [{ value: '', label: t.unassigned }, ...assigneeOptions(members)],
          [assigneeId],
          members,
        )}
        onChange={(event) => save.mutate({ assigneeId: event.currentTarget.value })}
      />
      {query.isError && <QueryState query={query} />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saveCallback(draft ?? stored);
        }}
      >
        <Group gap="xs" align="flex-end">
          <TextInput
            size="xs"
            type="datetime-local"
            label={t.callback}
            value={draft ?? stored}
            max="9999-12-31T23:59"
            onChange={(event) => setDraft(event.currentTarget.value)}
          />
          {isUnsaved && (
            <Button type="submit" size="xs" loading={save.isPending && !isAssigning}>
              {t.saveCallback}
            </Button>
          )}
          {!isUnsaved && stored !== '' && (
            <Button
              size="xs"
              variant="default"
              loading={save.isPending && !isAssigning}
              onClick={() => saveCallback('')}
            >
              {t.removeCallback}
            </Button>
          )}
        </Group>
      </form>
      {save.isError && <ErrorNotice error={save.error} onRetry={() => save.mutate(save.variables)} />}
    </Section>
  );
}

/** Returns a local time as one in UTC; an empty text for none. */
const isoOf = (local: string) => (local === '' ? '' : toIso(new Date(local)));
