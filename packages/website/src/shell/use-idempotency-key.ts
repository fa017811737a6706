import { randomId } from '@mantine/hooks';
import { useState } from 'react';

/**
 * Returns the idempotency key of a form, and a function that renews it. The answer to a request can be lost: sending the
 * form again with the same key creates nothing twice. Renew the key when a value changes, because other values are another
 * request.
 */
export function useIdempotencyKey(): readonly [key: string, renew: () => void] {
  const [key, setKey] = useState(randomId);
  return [key, () => setKey(randomId())];
}
