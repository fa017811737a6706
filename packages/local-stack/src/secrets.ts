import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readFileIfThere, writePrivateFile } from './private-file.ts';

/** A secret to sign access tokens with, made once and kept in `<dataDir>/jwt-secret`. */
export function keptJwtSecret(dataDir: string): string {
  const file = join(dataDir, 'jwt-secret');
  const kept = readFileIfThere(file)?.trim();
  if (kept) return kept;
  const made = randomBytes(32).toString('base64url');
  writePrivateFile(file, made);
  return made;
}
