import { TextInput, type TextInputProps } from '@mantine/core';

/** A browser's date field in a dialog. */
export function DateInput(props: Omit<TextInputProps, 'type' | 'onKeyDown'>) {
  return (
    <TextInput
      type="date"
      // Browsers accept years of 6 digits.
      max="9999-12-31"
      {...props}
      onKeyDown={(event) => {
        // Day, month and year are separate tab stops. The focus trap checks a moment later whether Tab has left them.
        // It would move the focus of a fast typist back to an earlier field.
        if (event.key === 'Tab' && !event.shiftKey) event.stopPropagation();
      }}
    />
  );
}

/** Whether the year of a day is complete. While the user types a year, browsers also report the years 2, 20 and 202. */
export const hasWholeYear = (day: string): boolean => day >= '1970';
