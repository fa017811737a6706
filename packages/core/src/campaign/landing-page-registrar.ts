import { BackgroundLoop, untilWoken } from '../background/background-loop.ts';
import type { LandingPageStore, UnknownLandingPage } from './landing-page-store.ts';

const landingPageName = /^.{1,255}$/su;
/**
 * The maximum of pending names. A workspace may add a name while it has fewer than there is room for (dynamic thresholds,
 * as in FairBacklog). Further names are dropped. A dropped page is registered by its next lead.
 */
const maxPending = 10_000;

/** Whether a landing page may have this name: 1 to 255 characters. A lead also keeps longer names. */
export function fitsLandingPage(name: string): boolean {
  return landingPageName.test(name);
}

/** Registers new landing pages outside of requests. Names of the same time are written together. */
export class LandingPageRegistrar implements AsyncDisposable {
  readonly #landingPages: Pick<LandingPageStore, 'add'>;
  readonly #capPerKey: number | undefined;
  /** By workspace and name. */
  readonly #pending = new Map<string, Map<string, UnknownLandingPage>>();
  #room = maxPending;
  readonly #loop: BackgroundLoop;

  /**
   * @param onError called once when a streak of failed writes begins. Their pages register with their next lead.
   * @param options.capPerKey the maximum of landing pages that an API key registers on one day. Further landing pages
   *   wait for approval.
   */
  constructor(
    landingPages: Pick<LandingPageStore, 'add'>,
    onError: (error: unknown) => void,
    options: { readonly capPerKey?: number | undefined } = {},
  ) {
    this.#landingPages = landingPages;
    this.#capPerKey = options.capPerKey;
    this.#loop = new BackgroundLoop({
      step: () => this.#write(),
      onError,
      firstPauseMs: untilWoken,
      retryMs: untilWoken,
      hasFinalStep: true,
    });
  }

  /** @param apiKeyId the API key of the lead that names the landing page. */
  register(workspaceId: string, name: string, apiKeyId?: string): void {
    const pages = this.#pending.get(workspaceId) ?? new Map<string, UnknownLandingPage>();
    if (!fitsLandingPage(name) || pages.has(name) || pages.size >= this.#room) return;
    pages.set(name, { workspaceId, name, apiKeyId });
    this.#room -= 1;
    this.#pending.set(workspaceId, pages);
    this.#loop.wake();
  }

  async #write(): Promise<number> {
    const pages: UnknownLandingPage[] = [];
    for (const ofWorkspace of this.#pending.values()) pages.push(...ofWorkspace.values());
    this.#pending.clear();
    this.#room = maxPending;
    if (pages.length > 0) await this.#landingPages.add(pages, this.#capPerKey);
    return untilWoken;
  }

  /** Waits until all pending names are written. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
