import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { NewSavedView, SavedView } from '@leads/core/lead';
import { fieldErrorsOf } from '../../api/client.ts';
import { createView, deleteView, updateView, viewsQuery } from '../../api/views.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { ErrorNotice } from '../../shell/states.tsx';
import { focusRejected } from '../../shell/use-focus-fault.ts';
import * as texts from '../../texts/index.ts';
import { viewDialog as ofDialog } from '../../texts/view-dialog.ts';

const t = texts.leads;

/** Saves the shown list as a view; or renames, shares and deletes a view. */
export function ViewDialog({
  view,
  shown,
  canShare,
  onSaved,
  onDeleted,
  onClose,
}: {
  /** The view to change. Absent for a new one. */
  view: SavedView | undefined;
  /** The filters, the order and the columns of the shown list. */
  shown: Omit<NewSavedView, 'name' | 'shared'>;
  canShare: boolean;
  onSaved: (view: SavedView) => void;
  onDeleted: () => void;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const { data: views = [] } = useQuery(viewsQuery);
  const form = useForm({
    initialValues: { name: view?.name ?? '', shared: view?.shared ?? false },
    // The API accepts the same name twice. In the menu, users could not distinguish the views.
    validate: {
      name: (name, { shared }) => {
        const folded = name.trim().toLowerCase();
        const isTaken = views.some(
          (each) =>
            each.id !== view?.id && each.shared === shared && each.name.trim().toLowerCase() === folded,
        );
        return isTaken ? ofDialog.exists(shared) : null;
      },
    },
  });
  const refresh = () => queryClient.invalidateQueries({ queryKey: viewsQuery.queryKey });
  const save = useMutation({
    mutationFn(values: { name: string; shared: boolean }) {
      if (view === undefined) return createView({ ...shown, ...values });
      // Only changes are sent, because another user may have changed the other value meanwhile.
      const changes = Object.entries(values).filter(([name]) => form.isDirty(name));
      return updateView(view.id, Object.fromEntries(changes));
    },
    async onSuccess(saved) {
      await refresh();
      notifications.show({ message: t.viewSaved(saved.name) });
    },
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  const remove = useMutation({
    mutationFn: ({ id }: SavedView) => deleteView(id),
    async onSuccess(_answer, { name }) {
      await refresh();
      notifications.show({ message: ofDialog.deleted(name) });
    },
  });
  // Callbacks of one call do not run after the dialog is closed, when the user may be elsewhere.
  return (
    <Dialog onClose={onClose} title={view === undefined ? t.saveView : t.editView(view.name)}>
      <form
        onSubmit={form.onSubmit(
          (values) =>
            view !== undefined && !form.isDirty() ? onClose() : save.mutate(values, { onSuccess: onSaved }),
          focusRejected(save.reset),
        )}
      >
        <Stack>
          {view === undefined && <Text size="sm">{ofDialog.keeps}</Text>}
          <TextInput
            label={ofDialog.name}
            required
            maxLength={255}
            data-autofocus
            {...form.getInputProps('name')}
          />
          {canShare && (
            <Checkbox
              label={ofDialog.share}
              description={ofDialog.shareHint}
              {...form.getInputProps('shared', { type: 'checkbox' })}
            />
          )}
          {view !== undefined && (
            <Button
              variant="subtle"
              color="red.9"
              w="fit-content"
              px={0}
              loading={remove.isPending}
              onClick={() => remove.mutate(view, { onSuccess: onDeleted })}
            >
              {ofDialog.delete}
            </Button>
          )}
          {remove.isError && <ErrorNotice error={remove.error} />}
          <FormActions
            submit={texts.common.save}
            error={save.error}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
