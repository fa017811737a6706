import type { PostbackView } from '@leads/core/delivery';

/** Returns the details of a postback for the audit log. The path and query of a URL may contain a secret. */
export function postbackDetails({ url, owner, statuses }: Pick<PostbackView, 'url' | 'owner' | 'statuses'>) {
  return { host: new URL(url).host, owner, statuses: statuses.join(', ') };
}
