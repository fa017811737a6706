import { open, readFile } from 'node:fs/promises';
import { type Erasure, type ErasureLog, formatErasure, parseErasure } from '@leads/core/erasure';

/** The log of erasures in a file: a line of JSON each, on disk before anything is erased. */
export class ErasureFile implements ErasureLog {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async write(erasure: Erasure): Promise<void> {
    const file = await open(this.#path, 'a', 0o600);
    try {
      await file.appendFile(`${formatErasure(erasure)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
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
