import { TextInput, type TextInputProps } from '@mantine/core';

/** A browser's date field in a dialog. */
export function DateInput(props: Omit<TextInputProps, 'type' | 'onKeyDown'>) {
  return (
    <TextInput
      type="date"
      {...props}
      onKeyDown={(event) => {
        // Day, month and year are separate tab stops. The focus trap checks a moment later whether Tab has left them, and
        // would move a fast typist back from the next but one field.
        if (event.key === 'Tab' && !event.shiftKey) event.stopPropagation();
      }}
    />
  );
}
