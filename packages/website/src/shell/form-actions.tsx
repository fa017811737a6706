import { Button, Group } from '@mantine/core';
import { texts } from '../texts/index.ts';
import { faultsOf } from '../api/client.ts';
import { ErrorNotice } from './states.tsx';

/** The foot of a form in a dialog: what went wrong, where no field says so, and the way out and on. */
export function FormActions({
  submit = texts.common.create,
  error,
  isPending,
  onCancel,
}: {
  submit?: string;
  error: Error | null;
  isPending: boolean;
  onCancel: () => void;
}) {
  return (
    <>
      {error !== null && Object.keys(faultsOf(error)).length === 0 && <ErrorNotice error={error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          {texts.common.cancel}
        </Button>
        <Button type="submit" loading={isPending}>
          {submit}
        </Button>
      </Group>
    </>
  );
}
