import type { Transaction } from './client.ts';

/**
 * Locks the workspace for the rest of the transaction. Changes that depend on other rows of the workspace then run one
 * after the other. Examples are a change of the default campaign, and a new object whose number is capped.
 */
export async function lockWorkspace(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.$queryRaw`SELECT id FROM workspace WHERE id = ${workspaceId}::uuid FOR NO KEY UPDATE`;
}
