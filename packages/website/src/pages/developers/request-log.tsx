import { Alert, Anchor, Badge, Button, Group, Select, Stack, Switch, Table, Text } from '@mantine/core';
import { errorTable } from '@leads/core/errors';
import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { type ListedRequest, type RequestFilter, requestLogQuery } from '../../api/requests.ts';
import { ButtonLink } from '../../shell/links.tsx';
import { QueryState } from '../../shell/states.tsx';
import { exactTime } from '../../shell/time.ts';
import { NextPageButton } from '../../shell/next-page-button.tsx';
import { developers as t } from '../../texts/developers.ts';
import { useChosenKey } from './use-chosen-key.tsx';

const route = getRouteApi('/console/developers');
const statuses = ['all', 'success', 'client_error', 'server_error'] as const;
const services = ['all', 'crm', 'intake'] as const;

/** The newest requests of one API key. */
export function RequestLog() {
  const { id, field } = useChosenKey();
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" maw={800}>
        {t.requestsLead}
      </Text>
      {id === undefined ? field : <Requests id={id}>{field}</Requests>}
    </Stack>
  );
}

function Requests({ id, children: keyField }: { id: string; children: React.ReactNode }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [isLive, setLive] = useState(true);
  const status = statuses.find((each) => each === search.status) ?? 'all';
  const service = services.find((each) => each === search.service) ?? 'all';
  const filter: RequestFilter = {
    ...(status !== 'all' && { status }),
    ...(service !== 'all' && { service }),
  };
  const query = useInfiniteQuery(requestLogQuery(id, filter, isLive));
  const { data } = query;
  const show = (changes: { status?: string | null; service?: string | null }) =>
    void navigate({
      search: ({ status: _status, service: _service, ...others }) => {
        const next = Object.entries({ status, service, ...changes });
        return { ...others, ...Object.fromEntries(next.filter(([, value]) => value !== 'all')) };
      },
      replace: true,
      // The changed field stays in the window.
      resetScroll: false,
    });
  const requests = data?.pages.flatMap((page) => page.requests) ?? [];
  const unlisted = data?.pages[0]?.unlistedToday ?? 0;
  const isFiltered = status !== 'all' || service !== 'all';
  const hasOlder = (data?.pages.length ?? 0) > 1;
  return (
    <>
      <Group align="flex-end" gap="sm">
        {keyField}
        <Select
          label={t.status}
          w={160}
          allowDeselect={false}
          value={status}
          onChange={(value) => show({ status: value })}
          data={statuses.map((value) => ({ value, label: t.statuses[value] }))}
        />
        <Select
          label={t.service}
          w={160}
          allowDeselect={false}
          value={service}
          onChange={(value) => show({ service: value })}
          data={services.map((value) => ({ value, label: t.services[value] }))}
        />
        <Switch
          label={t.live}
          checked={isLive}
          onChange={(event) => setLive(event.currentTarget.checked)}
          mb={8}
        />
      </Group>
      {unlisted > 0 && (
        <Alert color="yellow" variant="light">
          {t.unlisted(unlisted)}
        </Alert>
      )}
      <QueryState query={query} />
      {data !== undefined && requests.length === 0 && (
        <Stack align="flex-start" gap="sm">
          <Text size="sm">{isFiltered ? t.noMatch : t.noRequests}</Text>
          {isFiltered ? (
            <Button variant="default" onClick={() => show({ status: 'all', service: 'all' })}>
              {t.clearFilter}
            </Button>
          ) : (
            <ButtonLink variant="default" to="/developers" search={{ tab: 'examples' }}>
              {t.sendFirst}
            </ButtonLink>
          )}
        </Stack>
      )}
      {requests.length > 0 && (
        <>
          <Text size="sm" c="dimmed">
            {t.shown(requests.length)}
            {isLive && hasOlder && ` ${t.paused}`}
          </Text>
          <RequestTable requests={requests} />
        </>
      )}
      <NextPageButton query={query} label={t.older} style={{ alignSelf: 'flex-start' }} />
    </>
  );
}

function RequestTable({ requests }: { requests: readonly ListedRequest[] }) {
  const { intake } = useSuspenseQuery(meQuery).data.addresses;
  const documents = { crm: '/docs', intake: intake?.replace(/\/api$/, '/docs') };
  return (
    <Table.ScrollContainer
      minWidth={640}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': t.tabs.requests } }}
    >
      <Table aria-label={t.tabs.requests} verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t.columns.status}</Table.Th>
            <Table.Th scope="col">{t.columns.request}</Table.Th>
            <Table.Th scope="col">{t.columns.time}</Table.Th>
            <Table.Th scope="col" ta="right">
              {t.columns.duration}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {requests.map((request) => (
            <Table.Tr key={request.id}>
              <Table.Td>
                <Badge variant="dot" miw="max-content" color={colorOf(request.status)}>
                  {request.status}
                </Badge>
              </Table.Td>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  <Text span fw={600} size="sm">
                    {request.method}
                  </Text>{' '}
                  {request.route}{' '}
                  <Text span c="dimmed" size="xs">
                    {t.services[request.service]}
                  </Text>
                </Text>
                <Problem request={request} documents={documents[request.service]} />
              </Table.Td>
              <Table.Td style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
                <time dateTime={request.at}>{exactTime(request.at)}</time>
              </Table.Td>
              <Table.Td ta="right" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
                {t.durationMs(request.durationMs.toFixed(1))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const colorOf = (status: number) => (status < 400 ? 'green' : status < 500 ? 'orange' : 'red');

/** The status of a request whose client disconnected. */
const clientClosedRequest = 499;

/** The problem code of a request, what it means, and the link to the documents of the service. */
function Problem({
  request: { status, code },
  documents,
}: {
  request: ListedRequest;
  documents: string | undefined;
}) {
  if (code === undefined) {
    return status === clientClosedRequest ? <Text size="xs">{t.disconnected}</Text> : null;
  }
  // A newer service can have sent a code that this page does not know.
  const known: Readonly<Record<string, { readonly message: string }>> = errorTable;
  return (
    <Text size="xs">
      <code>{code}</code> {known[code]?.message ?? ''}{' '}
      {documents !== undefined && (
        <Anchor href={documents} target="_blank" rel="noopener" size="xs">
          {t.aboutErrors}
        </Anchor>
      )}
    </Text>
  );
}
