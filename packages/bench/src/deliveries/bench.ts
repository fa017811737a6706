import type { LocalPostgres } from '@leads/local-stack/processes/postgres';
import type { LoadProcess } from '../load/load-process.ts';
import type { MoveToOwnCore } from '../stack/own-core.ts';

/** The shared resources of all steps of this bench. */
export interface DeliveryBench {
  readonly postgres: LocalPostgres;
  readonly load: LoadProcess;
  readonly rounds: number;
  readonly seconds: number;
  /** The deliveries that wait at the start of the drain. */
  readonly waiting: number;
  readonly endpoints: number;
  /** Moves the receivers and the process that sends to a core of their own. Undefined if all processes share the cores. */
  readonly moveToOwnCore: MoveToOwnCore | undefined;
  /** Creates an empty database with every migration applied, and returns its connection string. */
  readonly createDatabase: (name: string) => Promise<string>;
  readonly onProgress: (line: string) => void;
}
