import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readFileIfThere, writePrivateFile } from './private-file.ts';

/** Returns a secret of a local run. It is generated once and stored in `<dataDir>/<name>`. */
export function loadSecret(dataDir: string, name: 'deliveries-secret' | 'jwt-secret'): string {
  const file = join(dataDir, name);
  const stored = readFileIfThere(file)?.trim();
  if (stored) return stored;
  const generated = randomBytes(32).toString('base64url');
  writePrivateFile(file, generated);
  return generated;
}
