import { readFile } from 'node:fs/promises';
import { type Erasure, type ErasureLog, formatErasure, parseErasure } from '@leads/core/erasure';
import { OutputFile } from './output-file.ts';

/** An erasure log in a file of JSON lines. Each line is synced to disk before the erasure begins. */
export class ErasureFile implements ErasureLog {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async write(erasure: Erasure): Promise<void> {
    using file = new OutputFile(this.#path, 'a', 0o600);
    file.append(`${formatErasure(erasure)}\n`);
  }

  async read(): Promise<Erasure[]> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(parseErasure);
  }
}
