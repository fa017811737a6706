import { BackgroundLoop, untilWoken } from '../background/background-loop.ts';
import type { LandingPageStore, UnknownLandingPage } from './landing-page-store.ts';

const landingPageName = /^.{1,255}$/su;
/** The maximum of pending names. Further names are dropped. A dropped page is registered by its next lead. */
const maxPending = 10_000;

/** Whether a landing page may have this name: 1 to 255 characters. A lead also keeps longer names. */
export function fitsLandingPage(name: string): boolean {
  return landingPageName.test(name);
}

/** Registers new landing pages outside of requests. Names of the same time are written together. */
export class LandingPageRegistrar implements AsyncDisposable {
  readonly #landingPages: Pick<LandingPageStore, 'add'>;
  readonly #capPerKey: number | undefined;
  readonly #pending = new Map<string, UnknownLandingPage>();
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
    if (!fitsLandingPage(name) || this.#pending.size >= maxPending) return;
    this.#pending.set(`${workspaceId}/${name}`, { workspaceId, name, apiKeyId });
    this.#loop.wake();
  }

  async #write(): Promise<number> {
    const pages = [...this.#pending.values()];
    this.#pending.clear();
    if (pages.length > 0) await this.#landingPages.add(pages, this.#capPerKey);
    return untilWoken;
  }

  /** Waits until all pending names are written. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
