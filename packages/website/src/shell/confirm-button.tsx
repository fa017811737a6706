import { Button, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { ConfirmDialog, type Confirmation } from './confirm-dialog.tsx';

/** A button for what is not easily undone: it asks before it does it. */
export function ConfirmButton({
  label,
  name,
  title,
  action,
  color = 'red.9',
  onConfirm,
  children,
  ...props
}: Omit<ButtonProps, 'color' | 'children'> &
  Confirmation & {
    /** On the button. */
    readonly label: ReactNode;
    /** What the button is called where the label alone does not say what it is about. */
    readonly name?: string;
  }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="xs" {...props} aria-label={name} onClick={open}>
        {label}
      </Button>
      {opened && (
        <ConfirmDialog title={title} action={action} color={color} onConfirm={onConfirm} onClose={close}>
          {children}
        </ConfirmDialog>
      )}
    </>
  );
}
