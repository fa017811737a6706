import { SealedTextError, type SecretBox } from './secret-box.ts';

/** The sealed texts of a webhook. */
export interface SealedTexts {
  readonly secret: string;
  /** Absent if the overlap of the last rotation has ended. */
  readonly previousSecret?: string | undefined;
  readonly headers?: string | undefined;
}

/** The sealed texts of the webhooks of all workspaces. Methods throw LeadsError `unavailable` without the database. */
export interface SealedTextStore {
  /** Returns the webhooks after an id, in the order of their ids, `max` at most. */
  list(afterId: string | undefined, max: number): Promise<(SealedTexts & { readonly id: string })[]>;
  /** Replaces the texts of a webhook, unless they have changed. Returns whether they were replaced. */
  replace(id: string, before: SealedTexts, after: SealedTexts): Promise<boolean>;
}

/** The result of a re-encryption. */
export interface Reencryption {
  /** The webhooks whose texts all have the current key, including `reencrypted`. */
  readonly current: number;
  /** The webhooks whose texts were encrypted again. */
  readonly reencrypted: number;
  /** The webhooks that still need an earlier key. 0 after a run that changes rows. */
  readonly outdated: number;
  /** The ids of webhooks that no key of the box opens. */
  readonly unreadable: readonly string[];
}

const pageSize = 100;

/**
 * Encrypts the secrets and headers of all webhooks with the current key. Texts of the current key stay as they are, so a
 * run that was interrupted can be repeated. Concurrent changes of webhooks are kept.
 *
 * @param options.isCheck counts only, and changes nothing.
 * @param options.onPage called after each page with the number of webhooks so far.
 */
export async function reencryptSecrets(
  store: SealedTextStore,
  box: Pick<SecretBox, 'open' | 'seal' | 'isCurrent'>,
  { isCheck = false, onPage }: { isCheck?: boolean; onPage?: (webhooks: number) => void } = {},
): Promise<Reencryption> {
  const counts = { current: 0, reencrypted: 0, outdated: 0 };
  const unreadable: string[] = [];
  let afterId: string | undefined;
  for (;;) {
    const page = await store.list(afterId, pageSize);
    for (const { id, ...sealed } of page) {
      const texts = [sealed.secret, sealed.previousSecret, sealed.headers];
      try {
        const opened = texts.map((text) => text && box.open(text, id));
        if (texts.every((text) => text === undefined || box.isCurrent(text))) {
          counts.current += 1;
        } else if (isCheck) {
          counts.outdated += 1;
        } else {
          const [secret = '', previousSecret, headers] = opened.map((text) => text && box.seal(text, id));
          // If the texts have changed meanwhile, a service has sealed them, perhaps with an earlier key.
          if (await store.replace(id, sealed, { secret, previousSecret, headers })) {
            counts.reencrypted += 1;
            counts.current += 1;
          } else {
            counts.outdated += 1;
          }
        }
      } catch (error) {
        if (!(error instanceof SealedTextError)) throw error;
        unreadable.push(id);
      }
    }
    const last = page.at(-1);
    if (last === undefined) return { ...counts, unreadable };
    afterId = last.id;
    onPage?.(counts.current + counts.outdated + unreadable.length);
  }
}
