import type { CampaignView } from '@leads/core/campaign';
import { Button, Group, Paper, Select, Stack, Table, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { fieldErrorsOf } from '../../api/client.ts';
import { membersQuery } from '../../api/members.ts';
import { publisherPayoutsQuery, removePublisherPayout, setPublisherPayout } from '../../api/payouts.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { useFormInput } from '../../shell/discard-question.ts';
import { memberName, memberOption } from '../../shell/member-options.ts';
import { formatMoney } from '../../shell/money.ts';
import { PayoutInputs, usualCurrency } from '../../shell/payout-inputs.tsx';
import { ErrorNotice, QueryState } from '../../shell/states.tsx';
import { focusRejected, useFocusFault } from '../../shell/use-focus-fault.ts';
import { useStoredValues } from '../../shell/use-stored-values.ts';
import * as texts from '../../texts/index.ts';

const t = texts.campaigns;

/** The payouts that publishers have in place of the payout of the campaign, and the form that sets them. */
export function PublisherPayouts({ campaign: { id, payout } }: { campaign: CampaignView }) {
  const queryClient = useQueryClient();
  const query = publisherPayoutsQuery(id);
  const payouts = useQuery(query);
  const { data: listed } = payouts;
  const { data: members = [] } = useQuery(membersQuery);
  const noAmount = { amount: '', currency: payout?.currency ?? usualCurrency };
  const noEntry = { userId: null as string | null, payout: noAmount };
  const form = useForm({
    initialValues: noEntry,
    validate: { userId: (userId) => (userId === null ? t.choosePublisher : null) },
  });
  // The currency follows that of the campaign until the user enters a payout.
  useStoredValues(form, noEntry);
  useFormInput(form.isDirty());
  const nameOf = (userId: string) => memberName(members, userId);
  const payoutOf = (userId: string | null) => {
    const known = listed?.find((each) => each.userId === userId);
    return known === undefined ? noAmount : { amount: known.amount, currency: known.currency };
  };
  const refresh = () => queryClient.invalidateQueries({ queryKey: query.queryKey });
  const save = useMutation({
    mutationFn: ({ userId, payout: { amount, currency } }: typeof form.values) =>
      setPublisherPayout(id, userId ?? '', { amount: amount.trim(), currency }),
    async onSuccess(_answer, values) {
      notifications.show({ message: t.ownPayoutSet(nameOf(values.userId ?? '')) });
      // The user may have started the next entry during the request.
      if (form.getValues() === values) form.setValues(noEntry);
      await refresh();
    },
    onError: (failure) => form.setErrors(fieldErrorsOf(failure)),
  });
  const part = useFocusFault(save.error);
  return (
    <Paper component="section" withBorder p="md" aria-label={t.ownPayouts} miw={0}>
      <Title order={2} size="h4" mb="xs">
        {t.ownPayouts}
      </Title>
      <Text size="sm" c="dimmed">
        {t.ownPayoutsLead}
      </Text>
      <QueryState query={payouts} />
      {listed?.length === 0 && (
        <Text size="sm" mt="xs">
          {t.noOwnPayouts}
        </Text>
      )}
      {listed !== undefined && listed.length > 0 && (
        <Table fz="sm" mt="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t.publisher}</Table.Th>
              <Table.Th scope="col" ta="right">
                {t.payout}
              </Table.Th>
              <Table.Th scope="col" ta="right">
                {t.actions}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {listed.map((each) => {
              const name = nameOf(each.userId);
              return (
                <Table.Tr key={each.userId}>
                  <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
                    {name}
                  </Table.Th>
                  <Table.Td ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
                    {formatMoney(each)}
                  </Table.Td>
                  <Table.Td ta="right">
                    <ConfirmButton
                      label={t.removePayout}
                      name={t.removePayoutOf(name)}
                      title={t.removePayoutTitle(name)}
                      action={t.removePayout}
                      onConfirm={async () => {
                        await removePublisherPayout(id, each.userId);
                        await refresh();
                      }}
                    >
                      <Text size="sm">{t.removePayoutLead}</Text>
                    </ConfirmButton>
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      )}
      <form onSubmit={form.onSubmit((values) => save.mutate(values), focusRejected(save.reset))}>
        <Stack gap="xs" mt="sm">
          <Select
            label={t.publisher}
            data={members.map(memberOption)}
            searchable
            limit={100}
            withAsterisk
            {...form.getInputProps('userId')}
            onChange={(userId) => {
              const { payout: entered, userId: former } = form.getValues();
              const shown = payoutOf(former);
              const isEdited = entered.amount !== shown.amount || entered.currency !== shown.currency;
              form.setValues({ userId, payout: isEdited ? entered : payoutOf(userId) });
            }}
          />
          <PayoutInputs
            isRequired
            value={form.values.payout}
            onChange={(changed) => form.setFieldValue('payout', changed)}
            error={form.errors['amount'] ?? form.errors['currency']}
          />
          {save.isError && Object.keys(fieldErrorsOf(save.error)).length === 0 && (
            <ErrorNotice error={save.error} />
          )}
          <Group ref={part} justify="flex-end">
            <Button type="submit" variant="default" loading={save.isPending}>
              {t.setOwnPayout}
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}
