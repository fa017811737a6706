import { TextInput, type TextInputProps } from '@mantine/core';

/** A day, as the browser takes it, in a dialog. */
export function DateInput(props: Omit<TextInputProps, 'type' | 'onKeyDown'>) {
  return (
    <TextInput
      type="date"
      {...props}
      onKeyDown={(event) => {
        // The day, the month and the year are a stop each. What keeps the focus in a dialog looks a moment later
        // whether Tab has left them, and would take a fast typist back from the field after the next.
        if (event.key === 'Tab' && !event.shiftKey) event.stopPropagation();
      }}
    />
  );
}
