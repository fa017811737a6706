import { Button, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { paymentsQuery } from '../../api/payments.ts';
import { EmptyState } from '../../shell/empty-state.tsx';
import { ButtonLink } from '../../shell/links.tsx';
import { memberOptions } from '../../shell/member-options.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList } from '../../shell/record-row.tsx';
import { QueryState } from '../../shell/states.tsx';
import { NextPageButton } from '../../shell/next-page-button.tsx';
import { payments as t } from '../../texts/payments.ts';
import { paymentFacts, PaymentRow, usePeople } from './payment-parts.tsx';

const route = getRouteApi('/console/payments');

/** The payments, newest first. A publisher sees the payments to it. */
export function PaymentsPage() {
  const { user } = route.useSearch();
  const navigate = route.useNavigate();
  const people = usePeople();
  const { isManaging, members } = people;
  const show = (shown: string | undefined) =>
    void navigate({ search: shown === undefined ? {} : { user: shown }, replace: true, resetScroll: false });
  return (
    <>
      <PageHeading title={t.title} />
      <Stack maw={1100}>
        <Text size="sm" c="dimmed">
          {isManaging ? t.lead : t.ownLead}
        </Text>
        {isManaging && (
          <Select
            label={t.publisher}
            placeholder={t.allPublishers}
            data={memberOptions(members, user)}
            value={user ?? null}
            onChange={(value) => show(value ?? undefined)}
            clearable
            searchable
            limit={100}
            maw={320}
          />
        )}
        <Payments user={isManaging ? user : undefined} people={people} onShowAll={() => show(undefined)} />
      </Stack>
    </>
  );
}

function Payments({
  user,
  people,
  onShowAll,
}: {
  user: string | undefined;
  people: ReturnType<typeof usePeople>;
  onShowAll: () => void;
}) {
  const query = useInfiniteQuery(paymentsQuery(user));
  if (query.data === undefined) return <QueryState query={query} />;
  const payments = query.data.pages.flatMap((page) => page.payments);
  if (payments.length === 0) {
    const ofAll = people.isManaging ? t.empty : t.ownEmpty;
    return (
      <EmptyState text={user === undefined ? ofAll : t.emptyOfPublisher}>
        {user === undefined ? (
          <ButtonLink to="/statements" variant="default">
            {t.showStatements}
          </ButtonLink>
        ) : (
          <Button variant="default" onClick={onShowAll}>
            {t.showAll}
          </Button>
        )}
      </EmptyState>
    );
  }
  return (
    <Stack component="section">
      <QueryState query={query} />
      <RecordList label={t.title}>
        {payments.map((payment) => (
          <PaymentRow key={payment.id} payment={payment} facts={paymentFacts(payment, people)} />
        ))}
      </RecordList>
      <NextPageButton query={query} label={t.loadMore} />
    </Stack>
  );
}
