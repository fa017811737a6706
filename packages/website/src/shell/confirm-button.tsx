import { Button, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useCommands } from './commands.ts';
import type { Confirmation } from './confirm-dialog.tsx';
import { LazyConfirmDialog } from './lazy-confirm-dialog.tsx';

/** A button that asks for confirmation before it acts. The command palette offers the same action. */
export function ConfirmButton({
  label,
  name,
  title,
  action,
  color = 'red.9',
  onConfirm,
  isSecret = false,
  children,
  ...props
}: Omit<ButtonProps, 'color' | 'children'> &
  Confirmation & {
    /** The label of the button. */
    readonly label: string;
    /** The accessible name of the button, if the label alone is ambiguous. */
    readonly name?: string;
  }) {
  const [opened, { open, close }] = useDisclosure(false);
  useCommands([{ label: name ?? label, isOfEntry: true, run: open }]);
  return (
    <>
      <Button variant="default" size="xs" {...props} aria-label={name} onClick={open}>
        {label}
      </Button>
      {opened && (
        <LazyConfirmDialog {...{ title, action, color, onConfirm, isSecret }} onClose={close}>
          {children}
        </LazyConfirmDialog>
      )}
    </>
  );
}
