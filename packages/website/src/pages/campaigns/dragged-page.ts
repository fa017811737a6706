import type { DragEvent } from 'react';

/** The media type of a dragged landing page. The data is its id. */
export const draggedPageType = 'application/x-landing-page';

/** Whether a landing page is being dragged. The browser reveals the data itself only on drop. */
export function readDraggedPage(event: DragEvent): string | undefined {
  return event.dataTransfer.types.find((type) => type === draggedPageType);
}
