import { Select, Stack, Text } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { apiKeysQuery } from '../../api/credentials.ts';
import { memberCredentialsQuery } from '../../api/members.ts';
import { ButtonLink } from '../../shell/links.tsx';
import { QueryState } from '../../shell/states.tsx';
import { useMay } from '../../shell/use-may.ts';
import { developers as t } from '../../texts/developers.ts';

const route = getRouteApi('/console/developers');

/**
 * Returns the API key of the address, or the one that was used last when the page was opened. Owners and managers choose
 * among the keys of all members.
 *
 * @returns the id of the key and the field that chooses it; without a key, what to show instead.
 */
export function useChosenKey(): { readonly id: string | undefined; readonly field: ReactNode } {
  const { key } = route.useSearch();
  const navigate = route.useNavigate();
  const { user } = useSuspenseQuery(meQuery).data;
  const isManager = useMay('manageCredentials');
  const own = useQuery({ ...apiKeysQuery, enabled: !isManager });
  const all = useQuery({ ...memberCredentialsQuery, enabled: isManager });
  // It stays when the list is loaded again and another key was used last.
  const [usedLast, setUsedLast] = useState<string>();
  const keys = isManager
    ? all.data?.apiKeys
    : own.data?.map((each) => Object.assign({}, each, { userId: user.id, userEmail: user.email }));
  if (keys === undefined) return { id: undefined, field: <QueryState query={isManager ? all : own} /> };
  const sorted = keys.toSorted((a, b) => (b.lastUsedAt ?? '').localeCompare(a.lastUsedAt ?? ''));
  const chosen = sorted.find(({ id }) => id === key) ?? sorted.find(({ id }) => id === usedLast) ?? sorted[0];
  if (usedLast === undefined && chosen !== undefined) setUsedLast(chosen.id);
  if (chosen === undefined) {
    return {
      id: undefined,
      field: (
        <Stack align="flex-start" gap="sm">
          <Text size="sm">{t.noKeys}</Text>
          <ButtonLink to="/developers">{t.createKey}</ButtonLink>
        </Stack>
      ),
    };
  }
  return {
    id: chosen.id,
    field: (
      <Select
        label={t.key}
        w={{ base: '100%', sm: 360 }}
        allowDeselect={false}
        searchable
        value={chosen.id}
        data={sorted.map(({ id, name, prefix, userId, userEmail }) => ({
          value: id,
          label: userId === user.id ? t.ofUser(name, prefix) : t.ofMember(name, prefix, userEmail),
        }))}
        onChange={(id) =>
          void navigate({
            search: (before) => ({ ...before, ...(id !== null && { key: id }) }),
            replace: true,
            resetScroll: false,
          })
        }
      />
    ),
  };
}
