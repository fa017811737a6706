import type { DragEvent } from 'react';

/** What a landing page is dragged as; the data is its id. */
export const draggedPageType = 'application/x-landing-page';

/** The type of the data, where it is a landing page that is dragged: the data itself is told when it is dropped. */
export function readDraggedPage(event: DragEvent): string | undefined {
  return event.dataTransfer.types.find((type) => type === draggedPageType);
}
