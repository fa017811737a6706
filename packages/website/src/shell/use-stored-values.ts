import type { UseFormReturnType } from '@mantine/form';
import { useEffect, useEffectEvent, useState } from 'react';

/**
 * Shows the stored values in a form after another user or another tab has changed them. A field that the user has edited keeps
 * its entry.
 *
 * @param stored the values as JSON can represent them.
 * @returns the values that the form was given last, by field. An input with a state of its own needs its value as `key`.
 */
export function useStoredValues<Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  stored: Values,
): Values {
  const [given, setGiven] = useState(stored);
  const show = useEffectEvent((values: Values) => {
    const names = Object.keys(values);
    const edited = new Set(names.filter((name) => form.isDirty(name)));
    form.resetDirty(values);
    const changed = names.filter((name) => !edited.has(name) && form.isDirty(name));
    if (changed.length === 0) return;
    const replaced = Object.fromEntries(changed.map((name) => [name, values[name]])) as Partial<Values>;
    // All values, because the form then knows of each field whether it is edited.
    form.setValues({ ...form.getValues(), ...replaced });
    setGiven((earlier) => ({ ...earlier, ...replaced }));
  });
  const json = JSON.stringify(stored);
  // oxlint-disable-next-line react/set-state-in-effect -- the form, which keeps the entries, cannot change in a render
  useEffect(() => show(JSON.parse(json) as Values), [json]);
  return given;
}
