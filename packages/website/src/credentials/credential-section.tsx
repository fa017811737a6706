import { Badge, Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { EmptyState, isActionAbove } from '../shell/empty-state.tsx';
import { QueryState } from '../shell/states.tsx';
import { RecordList } from '../shell/record-row.tsx';
import * as texts from '../texts/index.ts';

const t = texts.profile;

type State = keyof typeof t.states;
const colors: Readonly<Record<State, string>> = { active: 'green', expired: 'gray', revoked: 'gray' };

export function StateBadge({ state }: { state: State }) {
  return (
    <Badge variant="dot" color={colors[state]}>
      {t.states[state]}
    </Badge>
  );
}

/** A list of the valid credentials and, on demand, of the old ones. */
export function CredentialSection<Credential extends { readonly id: string; readonly state: State }>({
  title,
  lead,
  none,
  action,
  query,
  renderRow,
}: {
  title: string;
  lead: string;
  none: string;
  action: ReactNode;
  query: {
    readonly data: readonly Credential[] | undefined;
    readonly error: Error | null;
    readonly refetch: () => Promise<unknown>;
  };
  renderRow: (credential: Credential) => ReactNode;
}) {
  const [showsOld, setShowsOld] = useState(false);
  const { data, error } = query;
  const good = data?.filter(({ state }) => state === 'active');
  const old = data?.filter(({ state }) => state !== 'active') ?? [];
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Group justify="space-between" align="flex-end">
        <Box flex="1 1 240px">
          <Title order={2} size="h4">
            {title}
          </Title>
          <Text size="sm" c="dimmed">
            {lead}
          </Text>
        </Box>
        {isActionAbove(good, error) && action}
      </Group>
      <QueryState query={query} />
      {good?.length === 0 && <EmptyState text={none}>{action}</EmptyState>}
      {good !== undefined && good.length > 0 && <RecordList label={title}>{good.map(renderRow)}</RecordList>}
      {old.length > 0 && (
        <Button
          variant="subtle"
          size="xs"
          style={{ alignSelf: 'flex-start' }}
          aria-expanded={showsOld}
          onClick={() => setShowsOld(!showsOld)}
        >
          {showsOld ? t.hideOld : t.showOld(old.length)}
        </Button>
      )}
      {showsOld && old.length > 0 && (
        <RecordList label={t.showOld(old.length)}>{old.map(renderRow)}</RecordList>
      )}
    </Stack>
  );
}
