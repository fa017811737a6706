import type { MouseEvent } from 'react';
import type { RowAction } from './lead-row.tsx';

/**
 * Returns the index of the row of a click, and the action of the clicked element. Undefined if the browser or a menu
 * handles the click.
 */
export function readRowClick(
  event: MouseEvent<HTMLElement>,
): { readonly index: number; readonly action: RowAction } | undefined {
  if (!(event.target instanceof Element)) return undefined;
  const index = Number(event.target.closest<HTMLElement>('[data-index]')?.dataset['index']);
  if (Number.isNaN(index) || event.target.closest('[role="menu"]') !== null) return undefined;
  const action: RowAction =
    (event.target.closest<HTMLElement>('[data-action]')?.dataset['action'] as RowAction | undefined) ??
    (event.shiftKey ? 'select' : 'open');
  // With Ctrl or Command, the browser opens the link in another tab.
  if (action === 'open' && (event.ctrlKey || event.metaKey)) return undefined;
  // The browser sends a second click, for the checkbox of the label.
  if (action === 'select' && event.target instanceof HTMLLabelElement) return undefined;
  return { index, action };
}
