import { randomId } from '@mantine/hooks';
import { useState } from 'react';

/**
 * Returns the idempotency key of a form, and a function that renews it. An answer can be lost: the same key creates
 * nothing twice. A change of a value renews the key, because other values are another request.
 */
export function useIdempotencyKey(): readonly [key: string, renew: () => void] {
  const [key, setKey] = useState(randomId);
  return [key, () => setKey(randomId())];
}
