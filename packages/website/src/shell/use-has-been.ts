import { useState } from 'react';

/**
 * Returns whether a condition has been true since the component is shown. A part that waits for a request must stay after the
 * response. If the request failed, the part repeats it when it appears. If it then waited again, both would repeat without an end.
 */
export function useHasBeen(condition: boolean): boolean {
  const [hasBeen, setHasBeen] = useState(condition);
  if (condition && !hasBeen) setHasBeen(true);
  return hasBeen || condition;
}
