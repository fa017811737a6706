import type { SessionView } from '@leads/core/account';
import { Badge, Group, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { endSession, sessionsQuery } from '../../api/sessions.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime } from '../../shell/relative-time.tsx';
import { QueryState } from '../../shell/states.tsx';
import { useNow } from '../../shell/time.ts';
import { describeClient } from '../../shell/user-agent.ts';
import * as texts from '../../texts/index.ts';

const t = texts.profile;

const nameOf = ({ userAgent = '' }: SessionView) => describeClient(userAgent);

const dayMs = 86_400_000;

/** When a session was used last. The service stores the next use a day after the last stored one. */
function LastSeen({ at }: { at: string }) {
  const now = useNow();
  return now - Date.parse(at) < dayMs ? t.seenLastDay : <ExactTime at={at} />;
}

export function SessionsTab() {
  const queryClient = useQueryClient();
  const query = useQuery(sessionsQuery);
  const { data: sessions } = query;
  const reload = () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
  if (sessions === undefined) return <QueryState query={query} />;
  const others = sessions.filter(({ current }) => !current);
  return (
    <Stack gap="sm">
      <QueryState query={query} />
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t.sessionsLead}
        </Text>
        {others.length > 0 && (
          <ConfirmButton
            label={t.signOutAll}
            title={t.signOutAllTitle}
            action={t.signOutAll}
            size="sm"
            onConfirm={async () => {
              const ended = others.map(({ id }) => endSession(id));
              await Promise.allSettled(ended);
              await reload();
              await Promise.all(ended);
            }}
          >
            <Text size="sm">{t.signOutAllLead}</Text>
          </ConfirmButton>
        )}
      </Group>
      <RecordList label={t.tabs.sessions}>
        {sessions.map((session) => (
          <RecordRow
            key={session.id}
            title={
              <>
                <Text fw={600}>{nameOf(session)}</Text>
                {session.current && <Badge variant="default">{t.thisOne}</Badge>}
              </>
            }
            facts={[
              ...(session.ipAddress === undefined ? [] : [[t.address, session.ipAddress] as const]),
              [t.signedIn, <ExactTime key="since" at={session.createdAt} />],
              [t.lastSeen, <LastSeen key="seen" at={session.updatedAt} />],
            ]}
            actions={
              !session.current && (
                <ConfirmButton
                  label={t.signOutOne}
                  name={t.signOutOf(nameOf(session), session.ipAddress ?? '')}
                  title={t.signOutOneTitle}
                  action={t.signOutOne}
                  onConfirm={async () => {
                    await endSession(session.id);
                    await reload();
                  }}
                >
                  <Text size="sm">{t.signOutOneLead}</Text>
                </ConfirmButton>
              )
            }
          />
        ))}
      </RecordList>
    </Stack>
  );
}
