import { hasScope, type Principal, requirePermission } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import { type FieldError, LeadsError } from '../errors.ts';
import { type LeadStatus, leadStatuses } from './lead-transitions.ts';
import type { StatusAlias } from './status-alias.schema.ts';

/** A store of the status aliases of workspaces. */
export interface StatusAliasStore {
  /** Lists the aliases of a workspace, sorted by alias. */
  list(workspaceId: string): Promise<StatusAlias[]>;
  /** Replaces all aliases of a workspace. */
  replace(workspaceId: string, aliases: readonly StatusAlias[]): Promise<void>;
}

/** A status of the specification, and the reason of the alias that named it. */
interface ResolvedStatus {
  readonly status: LeadStatus;
  readonly reason?: string | undefined;
}

/** Converts the status names of requests. Aliases are unknown to a publisher and to a key that changes no status. */
export interface StatusNames {
  /** @returns undefined for an unknown name. */
  resolve(name: string): ResolvedStatus | undefined;
  /** The rest of a sentence that begins with the field: "must be OnHold, ... or an alias of the workspace". */
  readonly unknownReason: string;
}

const statuses = new Set<string>(leadStatuses);
const isStatus = (name: string): name is LeadStatus => statuses.has(name);

/** The maximum length of a stored alias, in characters. Some characters become several when they are folded. */
const maxFoldedLength = 256;

/** Returns an alias without differences of case, of compatible characters and of spaces. */
function foldAlias(alias: string): string {
  return alias.normalize('NFKC').toLowerCase().trim().replaceAll(/\s+/g, ' ');
}

/** Returns what equal aliases have in common. Only the upper case of some letters is equal, such as that of `ß` and `ss`. */
function keyOf(alias: string): string {
  return foldAlias(alias).toUpperCase().toLowerCase();
}

/** Reads the status aliases of the principal's workspace. */
export async function readStatusNames(store: StatusAliasStore, principal: Principal): Promise<StatusNames> {
  const isKnown = may(principal.role, 'manageStatusAliases') && hasScope(principal, 'leads:status');
  const aliases = isKnown ? await store.list(principal.workspaceId) : [];
  const byAlias = new Map(aliases.map((each) => [each.alias, each]));
  const byKey = new Map(aliases.map((each) => [keyOf(each.alias), each]));
  const known = aliases.map(({ alias }) => alias).join(', ');
  return {
    resolve: (name) =>
      isStatus(name) ? { status: name } : (byAlias.get(foldAlias(name)) ?? byKey.get(keyOf(name))),
    unknownReason: `must be ${leadStatuses.join(', ')}${known === '' ? '' : `, or one of the aliases ${known}`}`,
  };
}

/**
 * Replaces the status name of a request by its status. Adds the reason of the alias if the request has none. The aliases
 * are read only if the name is not a status.
 *
 * @throws LeadsError `invalid_input` for an unknown name. The error names all known ones.
 */
export async function withStatus<Body extends { readonly status: string; readonly reason?: string }>(
  store: StatusAliasStore,
  principal: Principal,
  body: Body,
): Promise<Body & { readonly status: LeadStatus }> {
  const { status } = body;
  if (isStatus(status)) return { ...body, status };
  const names = await readStatusNames(store, principal);
  const resolved = names.resolve(status);
  if (resolved === undefined) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'body', path: '/status', reason: names.unknownReason }],
    });
  }
  const { reason } = resolved;
  return { ...(reason !== undefined && { reason }), ...body, status: resolved.status };
}

/** Lists the status aliases of the principal's workspace. @throws LeadsError `forbidden` for a publisher. */
export async function listStatusAliases(
  store: StatusAliasStore,
  principal: Principal,
): Promise<StatusAlias[]> {
  requirePermission(principal, 'manageStatusAliases');
  return store.list(principal.workspaceId);
}

/**
 * Replaces the status aliases of the principal's workspace.
 *
 * @returns the stored aliases, in lower case and sorted.
 * @throws LeadsError `forbidden` for a publisher; `invalid_input` for an alias that occurs twice, is the name of another
 *   status or is too long.
 */
export async function replaceStatusAliases(
  store: StatusAliasStore,
  principal: Principal,
  given: readonly StatusAlias[],
): Promise<StatusAlias[]> {
  requirePermission(principal, 'manageStatusAliases');
  const faults: FieldError[] = [];
  const seen = new Set<string>();
  const aliases = given.map((each, at) => {
    const alias = foldAlias(each.alias);
    const path = `/aliases/${at}/alias`;
    const named = leadStatuses.find((status) => status.toLowerCase() === alias);
    if (named !== undefined && named !== each.status) {
      faults.push({ at: 'body', path, reason: `is the name of the status ${named}` });
    }
    if (seen.has(keyOf(alias))) faults.push({ at: 'body', path, reason: 'is in the list twice' });
    seen.add(keyOf(alias));
    if (Array.from(alias).length > maxFoldedLength) {
      const reason = `must have at most ${maxFoldedLength} characters after Unicode normalization (NFKC)`;
      faults.push({ at: 'body', path, reason });
    }
    return { ...each, alias };
  });
  if (faults.length > 0) throw new LeadsError('invalid_input', { fields: faults });
  await store.replace(principal.workspaceId, aliases);
  return aliases.toSorted((a, b) => (a.alias < b.alias ? -1 : 1));
}
