import type { CredentialStore } from './credential-store.ts';

/** When and from where a credential was used last. */
export interface Use {
  readonly at: Date;
  /** An IPv4 or IPv6 address; absent where it is not known. */
  readonly from?: string | undefined;
}

/** Uses of credentials by the id of their rows. */
export interface Uses {
  readonly apiKeys: ReadonlyMap<string, Use>;
  readonly accessTokens: ReadonlyMap<string, Use>;
}

/** How often uses are written, in milliseconds. */
const writtenEveryMs = 5_000;

/** Keeps when credentials were used last, and writes it every few seconds: no request waits for it. */
export class CredentialUse implements AsyncDisposable {
  readonly #store: Pick<CredentialStore, 'recordUses'>;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #apiKeys = new Map<string, Use>();
  #accessTokens = new Map<string, Use>();
  #writing: Promise<void> = Promise.resolve();
  #isFailing = false;

  /** @param onError hears of the first failure of a row of them. */
  constructor(store: Pick<CredentialStore, 'recordUses'>, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
    this.#timer = setInterval(() => void this.write(), writtenEveryMs).unref();
  }

  note(ids: { apiKeyId?: string | undefined; accessTokenId?: string | undefined }, from?: string): void {
    const use = { at: new Date(), from };
    if (ids.apiKeyId !== undefined) this.#apiKeys.set(ids.apiKeyId, use);
    if (ids.accessTokenId !== undefined) this.#accessTokens.set(ids.accessTokenId, use);
  }

  /** Writes what was noted since the last time. What cannot be written is tried again with what comes. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      if (this.#apiKeys.size === 0 && this.#accessTokens.size === 0) return;
      const uses = { apiKeys: this.#apiKeys, accessTokens: this.#accessTokens };
      this.#apiKeys = new Map();
      this.#accessTokens = new Map();
      try {
        await this.#store.recordUses(uses);
        this.#isFailing = false;
      } catch (error) {
        this.#apiKeys = new Map([...uses.apiKeys, ...this.#apiKeys]);
        this.#accessTokens = new Map([...uses.accessTokens, ...this.#accessTokens]);
        if (!this.#isFailing) this.#onError(error);
        this.#isFailing = true;
      }
    });
    return this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }
}
