import type { Logger } from './log.ts';

/** SIGUSR1 is taken: it starts Node's debugger. */
export const logLevelSignal = 'SIGUSR2';

/**
 * The level that a service logs at while it runs. A child of a logger keeps the level that its parent had when it was
 * made: what is told of here are the loggers that live as long as the service.
 */
export class LogLevel {
  readonly #log: Logger;
  readonly #others: readonly { level: string }[];
  readonly #configured: string;

  /** @param log a logger of the configured level; `others` are its children. */
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
   * From now on each {@link logLevelSignal} switches between the configured level and `debug`.
   *
   * @param onSwitch is told the level that it is now.
   */
  switchBySignal(onSwitch: (level: string) => void = () => undefined): void {
    process.on(logLevelSignal, () => {
      const next = this.current === this.#configured ? 'debug' : this.#configured;
      // One of the two levels lets the line through, whichever of them is the next.
      this.current = 'debug';
      this.#log.info({ logLevel: next }, 'The log level is switched');
      this.current = next;
      onSwitch(next);
    });
  }
}
