import { BackgroundLoop } from '../background/background-loop.ts';
import type { CredentialStore, LastUse } from './credential-store.ts';

const intervalMs = 5_000;

/** Records the last use of credentials. It writes every few seconds, outside of requests. */
export class CredentialUse implements AsyncDisposable {
  readonly #store: Pick<CredentialStore, 'recordUses'>;
  readonly #loop: BackgroundLoop;
  #apiKeys = new Map<string, LastUse>();
  #accessTokens = new Map<string, LastUse>();

  /** @param onError called once when a streak of failed writes begins. */
  constructor(store: Pick<CredentialStore, 'recordUses'>, onError: (error: unknown) => void) {
    this.#store = store;
    this.#loop = new BackgroundLoop({
      step: () => this.#write(),
      onError,
      firstPauseMs: intervalMs,
      retryMs: intervalMs,
      hasFinalStep: true,
    });
  }

  /** Notes a use. @param from the client's address; empty or absent if unknown. */
  note(ids: { apiKeyId?: string | undefined; accessTokenId?: string | undefined }, from?: string): void {
    const use = { at: new Date(), from: from === '' ? undefined : from };
    if (ids.apiKeyId !== undefined) this.#apiKeys.set(ids.apiKeyId, use);
    if (ids.accessTokenId !== undefined) this.#accessTokens.set(ids.accessTokenId, use);
  }

  /** Writes the uses since the last write. If the write fails, the next one retries them. */
  async #write(): Promise<number> {
    const uses = { apiKeys: this.#apiKeys, accessTokens: this.#accessTokens };
    if (uses.apiKeys.size === 0 && uses.accessTokens.size === 0) return intervalMs;
    this.#apiKeys = new Map();
    this.#accessTokens = new Map();
    try {
      await this.#store.recordUses(uses);
    } catch (error) {
      this.#apiKeys = new Map([...uses.apiKeys, ...this.#apiKeys]);
      this.#accessTokens = new Map([...uses.accessTokens, ...this.#accessTokens]);
      throw error;
    }
    return intervalMs;
  }

  /** Writes the uses that are still pending. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
