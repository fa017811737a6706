import { Alert, Button, Group, List, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../shell/dialog.tsx';
import { ErrorNotice } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { statusDialogs } from '../../texts/status-dialogs.ts';
import type { Change, Refusal } from './use-status-changes.tsx';

const t = texts.leads;

interface DialogProps {
  readonly change: Change;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onClose: () => void;
}

/** Asks for confirmation of a change that cannot be undone. */
export function FinalDialog({
  change: { leads, to },
  isPending,
  error,
  onClose,
  onConfirm,
}: DialogProps & { onConfirm: () => void }) {
  return (
    <Dialog onClose={onClose} title={statusDialogs.finalTitle(t.statuses[to])}>
      <Stack>
        <Text size="sm">{statusDialogs.finalLead(leads.length)}</Text>
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.common.cancel}
          </Button>
          <Button data-autofocus loading={isPending} onClick={onConfirm}>
            {statusDialogs.confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** Asks for the reason for a change. */
export function ReasonDialog({
  change: { leads, to },
  isPending,
  error,
  onClose,
  onReason,
}: DialogProps & { onReason: (reason: string) => void }) {
  const [chosen, setChosen] = useState('');
  const [own, setOwn] = useState('');
  const [isMissing, setMissing] = useState(false);
  const reasons = to === 'Trashed' ? statusDialogs.reasons.trash : statusDialogs.reasons.unpay;
  const submit = () => {
    // The button is disabled during the request, and Enter in a radio button is not.
    if (isPending) return;
    const reason = own.trim() || chosen;
    if (reason === '') setMissing(true);
    else onReason(reason);
  };
  return (
    <Dialog onClose={onClose} title={statusDialogs.reasonTitle(t.statuses[to], leads.length)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <Radio.Group label={t.reason} value={chosen} onChange={setChosen}>
            <Stack gap={6} mt={6}>
              {reasons.map((reason, i) => (
                <Radio
                  key={reason}
                  value={reason}
                  label={reason}
                  data-autofocus={i === 0 || undefined}
                  onKeyDown={(event) => {
                    // Not every browser submits a form when the user presses Enter in a radio button.
                    if (event.key !== 'Enter') return;
                    event.preventDefault();
                    submit();
                  }}
                />
              ))}
            </Stack>
          </Radio.Group>
          <TextInput
            label={statusDialogs.ownReason}
            value={own}
            onChange={(event) => setOwn(event.currentTarget.value)}
          />
          {isMissing && own.trim() === '' && chosen === '' && (
            <Alert color="red" role="alert">
              {statusDialogs.reasonNeeded}
            </Alert>
          )}
          {error !== null && <ErrorNotice error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.common.cancel}
            </Button>
            <Button type="submit" loading={isPending}>
              {t.markAs(t.statuses[to])}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Lists the leads that were not changed, with the reasons. */
export function RefusalsDialog({ refusals, onClose }: { refusals: readonly Refusal[]; onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title={statusDialogs.refusedTitle(refusals.length)}>
      <List size="sm" listStyleType="none">
        {refusals.map(({ id, name, message }) => (
          <List.Item key={id}>
            <b>{name}</b>: {message}
          </List.Item>
        ))}
      </List>
    </Dialog>
  );
}
