import { type Static, Type } from 'typebox';
import { LeadStatus, StatusReason } from './lead-status.ts';
import { leadStatuses } from './lead-transitions.ts';

/** The maximum number of status aliases of a workspace. */
const maxAliases = 200;
/** The maximum length of a status alias, in characters. */
const maxAliasLength = 64;

/** A status in a request: a status of the specification, or an alias of the workspace. */
export const StatusName = Type.String({
  minLength: 1,
  maxLength: maxAliasLength,
  description: `${leadStatuses.join(', ')}, or a status alias of the workspace.`,
  examples: ['Approved'],
});

/** A name of a workspace for a status, such as the word of a call center. */
export const StatusAlias = Type.Object(
  {
    alias: Type.String({
      minLength: 1,
      maxLength: maxAliasLength,
      pattern: '^[^\\u0000-\\u001f\\u007f]*\\S[^\\u0000-\\u001f\\u007f]*$',
      'x-reason': 'must contain a character other than a space, and no control characters',
      description: 'Name for the status. Case and surrounding spaces do not matter.',
      examples: ['fake'],
    }),
    status: LeadStatus,
    reason: Type.Optional({
      ...StatusReason,
      description: 'Reason for the status change, for requests with the alias and without a `reason`.',
      examples: ['fake'],
    }),
  },
  { additionalProperties: false, description: 'A status alias.' },
);
export type StatusAlias = Static<typeof StatusAlias>;

/** The body of a request that replaces the status aliases of a workspace. */
export const StatusAliases = Type.Object(
  {
    aliases: Type.Array(StatusAlias, {
      maxItems: maxAliases,
      description: `All status aliases of the workspace, at most ${maxAliases}. An empty list removes them.`,
      examples: [[{ alias: 'fake', status: 'Trashed', reason: 'fake' }]],
    }),
  },
  { additionalProperties: false, description: 'The status aliases of a workspace.' },
);
export type StatusAliases = Static<typeof StatusAliases>;

/** The response to a request that reads or replaces the status aliases. */
export const StatusAliasesAnswer = Type.Object(
  {
    success: Type.Literal(true),
    aliases: Type.Array(StatusAlias, {
      description: 'All status aliases, in lower case and sorted.',
      examples: [[{ alias: 'fake', status: 'Trashed', reason: 'fake' }]],
    }),
  },
  { additionalProperties: false, description: 'The status aliases of the workspace.' },
);
export type StatusAliasesAnswer = Static<typeof StatusAliasesAnswer>;
