import type { StatusAlias } from '@leads/core/lead';
import { Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeStatusAliases, statusAliasesQuery } from '../../api/status-aliases.ts';
import { useCommands } from '../../shell/commands.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { EmptyState, isActionAbove } from '../../shell/empty-state.tsx';
import { IconPlus, IconUpload } from '../../shell/icons.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { QueryState } from '../../shell/states.tsx';
import { leads } from '../../texts/leads.ts';
import { statusAliases as t } from '../../texts/status-aliases.ts';

const StatusAliasDialog = lazyDialog(
  async () => (await import('./status-alias-dialog.tsx')).StatusAliasDialog,
);
const ImportStatusesDialog = lazyDialog(
  async () => (await import('../../leads/import/import-statuses-dialog.tsx')).ImportStatusesDialog,
);

/** The status aliases of the workspace. For owners and managers. */
export function StatusAliases() {
  const queryClient = useQueryClient();
  const query = useQuery(statusAliasesQuery);
  const { data: aliases, error } = query;
  const [edited, setEdited] = useState<StatusAlias | 'new'>();
  const [isImporting, { open: openImport, close: closeImport }] = useDisclosure(false);
  useCommands([
    { label: t.create, run: () => setEdited('new') },
    { label: leads.importStatuses, run: openImport },
  ]);
  const show = (changed: readonly StatusAlias[]) =>
    queryClient.setQueryData(statusAliasesQuery.queryKey, [...changed]);
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      {t.create}
    </Button>
  );
  return (
    <Stack component="section" gap="sm" aria-label={t.title}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <Box flex="1 1 240px">
          <Title order={2} size="h4">
            {t.title}
          </Title>
          <Text size="sm" c="dimmed">
            {t.lead}
          </Text>
        </Box>
        <Group gap="sm">
          <Button variant="default" leftSection={<IconUpload size={16} aria-hidden />} onClick={openImport}>
            {leads.importStatuses}
          </Button>
          {isActionAbove(aliases, error) && create}
        </Group>
      </Group>
      <QueryState query={query} />
      {aliases?.length === 0 && <EmptyState text={t.none}>{create}</EmptyState>}
      {aliases !== undefined && aliases.length > 0 && (
        <RecordList label={t.title}>
          {aliases.map((each) => (
            <RecordRow
              key={each.alias}
              title={
                <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                  {each.alias}
                </Text>
              }
              facts={[
                [t.status, leads.statuses[each.status]],
                ...(each.reason === undefined ? [] : [[t.reason, each.reason] as const]),
              ]}
              actions={
                <>
                  <Button
                    variant="default"
                    size="xs"
                    aria-label={t.editOf(each.alias)}
                    onClick={() => setEdited(each)}
                  >
                    {t.edit}
                  </Button>
                  <ConfirmButton
                    label={t.remove}
                    name={t.removeOf(each.alias)}
                    title={t.removeTitle(each.alias)}
                    action={t.remove}
                    onConfirm={async () => {
                      show(
                        await changeStatusAliases((all) => all.filter(({ alias }) => alias !== each.alias)),
                      );
                    }}
                  >
                    <Text size="sm">{t.removeLead}</Text>
                  </ConfirmButton>
                </>
              }
            />
          ))}
        </RecordList>
      )}
      {isImporting && <ImportStatusesDialog onClose={closeImport} />}
      {edited !== undefined && (
        <StatusAliasDialog
          {...(edited !== 'new' && { edited })}
          onSaved={show}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Stack>
  );
}
