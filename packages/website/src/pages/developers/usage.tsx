import type { KeyUsage } from '@leads/core/request-log';
import { Skeleton, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { keyUsageQuery } from '../../api/requests.ts';
import { QueryState } from '../../shell/states.tsx';
import { formatDay } from '../../shell/time.ts';
import { developers as t } from '../../texts/developers.ts';
import { useChosenKey } from './use-chosen-key.tsx';
import { lazySection } from '../../shell/lazy-part.tsx';

const number = new Intl.NumberFormat('en');
const counts = ['success', 'clientErrors', 'serverErrors', 'unlisted'] as const;

// The chart library is as large as the rest of the website.
const UsageChart = lazySection(
  async () => (await import('./usage-chart.tsx')).UsageChart,
  <Skeleton h={240} />,
);

/** The requests of one API key by day. */
export function Usage() {
  const { id, field } = useChosenKey();
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {t.usageLead}
      </Text>
      {field}
      {id !== undefined && <Days id={id} />}
    </Stack>
  );
}

function Days({ id }: { id: string }) {
  const query = useQuery(keyUsageQuery(id));
  const days = query.data?.days;
  return (
    <>
      <QueryState query={query} />
      {days?.length === 0 && <Text size="sm">{t.noUsage}</Text>}
      {days !== undefined && days.length > 0 && <DayList days={days} />}
    </>
  );
}

/** A chart of the days, and a table of them, the newest first. */
function DayList({ days }: { days: KeyUsage['days'] }) {
  return (
    <>
      <UsageChart days={days} />
      <Table.ScrollContainer
        minWidth={480}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': t.usageChart } }}
      >
        <Table aria-label={t.usageChart} verticalSpacing={6} fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t.day}</Table.Th>
              {counts.map((count) => (
                <Table.Th key={count} scope="col" ta="right">
                  {t.counts[count]}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {days.toReversed().map((day) => (
              <Table.Tr key={day.day}>
                <Table.Th scope="row" fw={400} style={{ whiteSpace: 'nowrap' }}>
                  {formatDay(day.day)}
                </Table.Th>
                {counts.map((count) => (
                  <Table.Td key={count} ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
                    {number.format(day[count])}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}
