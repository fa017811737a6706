import type { Logger } from './log.ts';

/** SIGUSR1 is not available: it starts Node's debugger. */
export const logLevelSignal = 'SIGUSR2';

/**
 * The log level of a running service. A child logger keeps the level that its parent had at its creation. This class
 * therefore sets the level of every logger that lives as long as the service.
 */
export class LogLevel {
  readonly #log: Logger;
  readonly #others: readonly { level: string }[];
  readonly #configured: string;

  /** @param log a logger at the configured level; `others` are its children. */
  constructor(log: Logger, ...others: { level: string }[]) {
    this.#log = log;
    this.#others = others;
    this.#configured = log.level;
  }

  get current(): string {
    return this.#log.level;
  }

  set current(level: string) {
    for (const log of [this.#log, ...this.#others]) log.level = level;
  }

  /**
   * Makes each {@link logLevelSignal} switch between the configured level and `debug`.
   *
   * @param onSwitch called with the new level.
   */
  switchBySignal(onSwitch: (level: string) => void = () => undefined): void {
    process.on(logLevelSignal, () => {
      const next = this.current === this.#configured ? 'debug' : this.#configured;
      // At `debug`, the line is written whichever level is next.
      this.current = 'debug';
      this.#log.info({ logLevel: next }, 'Log level switched');
      this.current = next;
      onSwitch(next);
    });
  }
}
