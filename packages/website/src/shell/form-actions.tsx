import { Button, Group } from '@mantine/core';
import * as texts from '../texts/index.ts';
import { fieldErrorsOf } from '../api/client.ts';
import { ErrorNotice } from './states.tsx';
import { useFocusFault } from './use-focus-fault.ts';

/** The footer of a form in a dialog: errors that belong to no field, and the cancel and submit buttons. */
export function FormActions({
  submit = texts.common.create,
  dismiss = texts.common.cancel,
  error,
  isPending,
  onCancel,
}: {
  submit?: string;
  /** The label of the button that closes the dialog. */
  dismiss?: string;
  error: Error | null;
  isPending: boolean;
  onCancel: () => void;
}) {
  const part = useFocusFault(error);
  return (
    <>
      {error !== null && Object.keys(fieldErrorsOf(error)).length === 0 && <ErrorNotice error={error} />}
      <Group ref={part} justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          {dismiss}
        </Button>
        <Button type="submit" loading={isPending}>
          {submit}
        </Button>
      </Group>
    </>
  );
}
