import type { ApiKeyView } from '@leads/core/credential';
import * as texts from '../texts/index.ts';

const t = texts.common;

/** Returns the single scopes and the networks of an API key as facts of its row. A key without limits has none. */
export function keyLimits({ scope, allowedNetworks }: Pick<ApiKeyView, 'scope' | 'allowedNetworks'>) {
  return [
    ...(typeof scope === 'string' ? [] : [[t.scopes, scope.join(', ')] as const]),
    ...(allowedNetworks.length === 0 ? [] : [[t.networks, allowedNetworks.join(', ')] as const]),
  ];
}
