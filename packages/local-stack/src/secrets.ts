import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readFileIfThere, writePrivateFile } from './private-file.ts';

/** Returns the secret that signs access tokens. It is generated once and stored in `<dataDir>/jwt-secret`. */
export function loadJwtSecret(dataDir: string): string {
  const file = join(dataDir, 'jwt-secret');
  const stored = readFileIfThere(file)?.trim();
  if (stored) return stored;
  const generated = randomBytes(32).toString('base64url');
  writePrivateFile(file, generated);
  return generated;
}
