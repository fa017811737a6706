import type { CampaignStore } from './campaign-store.ts';

const landingPageName = /^.{1,255}$/su;
/** How many names may wait. A flood beyond it is forgotten: the page registers with its next lead. */
const maxPending = 10_000;

/** Whether a landing page may be called so: 1 to 255 characters. A lead keeps longer names all the same. */
export function fitsLandingPage(name: string): boolean {
  return landingPageName.test(name);
}

/**
 * Registers landing pages seen for the first time, off the request's path: names are collected and written
 * together, one write at a time. `onError` hears of the first write of a row that failed; their pages come again.
 */
export class LandingPageRegistrar implements AsyncDisposable {
  readonly #campaigns: Pick<CampaignStore, 'addLandingPages'>;
  readonly #onError: (error: unknown) => void;
  readonly #pending = new Map<string, { workspaceId: string; name: string }>();
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(campaigns: Pick<CampaignStore, 'addLandingPages'>, onError: (error: unknown) => void) {
    this.#campaigns = campaigns;
    this.#onError = onError;
  }

  register(workspaceId: string, name: string): void {
    if (!fitsLandingPage(name) || this.#pending.size >= maxPending) return;
    this.#pending.set(`${workspaceId}/${name}`, { workspaceId, name });
    this.#writing ??= this.#write();
  }

  /** Waits until all that was registered so far is written. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    // Yields once, so that the requests of one turn share a write.
    await Promise.resolve();
    while (this.#pending.size > 0) {
      const pages = [...this.#pending.values()];
      this.#pending.clear();
      try {
        await this.#campaigns.addLandingPages(pages);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#onError(error);
        this.#isFailing = true;
      }
    }
    this.#writing = undefined;
  }
}
