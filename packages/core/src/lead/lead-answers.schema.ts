import { type Static, Type } from 'typebox';
import { errorKinds } from '../errors.ts';
import { IntakeLead, Lead, LeadDetail } from './lead.schema.ts';
import { LeadStatus } from './lead-status.ts';

/** The answer to the creation of a lead. */
export const LeadCreated = Type.Object(
  { success: Type.Literal(true), lead: Lead },
  { additionalProperties: false, description: 'The lead is stored.' },
);
export type LeadCreated = Static<typeof LeadCreated>;

/** The answer to a change of a lead. */
export const LeadEdited = Type.Object(
  { success: Type.Literal(true), lead: LeadDetail },
  { additionalProperties: false, description: 'The lead as it is now.' },
);
export type LeadEdited = Static<typeof LeadEdited>;

/** The answer to a status change of many leads: the outcome for each. */
export const StatusChangeAnswer = Type.Object(
  {
    success: Type.Literal(true),
    changed: Type.Integer({ description: 'How many leads were changed.', examples: [1] }),
    refused: Type.Integer({ description: 'How many were not.', examples: [0] }),
    results: Type.Array(
      Type.Object(
        {
          id: Type.String({
            description: 'The lead.',
            examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
          }),
          success: Type.Boolean({ description: 'Whether it was changed.' }),
          status: Type.Optional(LeadStatus),
          version: Type.Optional(
            Type.Integer({ description: 'The version of the lead that this change made.', examples: [2] }),
          ),
          error: Type.Optional(
            Type.Enum([...errorKinds], {
              description: 'Of one that was not changed: a short kind.',
              examples: ['validation'],
            }),
          ),
          message: Type.Optional(
            Type.String({
              description: 'Of one that was not changed: why.',
              examples: ['A lead cannot go from Paid to OnHold'],
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { description: 'What became of each lead, in the order of `ids`.', examples: [[]] },
    ),
  },
  { additionalProperties: false, description: 'What became of each lead.' },
);
export type StatusChangeAnswer = Static<typeof StatusChangeAnswer>;

/** The most rejections that an answer lists. */
export const maxListedRejections = 1000;

const count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] });

/** The answer to an import: its report. */
export const ImportAnswer = Type.Object(
  {
    success: Type.Literal(true),
    accepted: count('Leads that were stored, duplicates among them.', 2),
    duplicates: count("Of those, the ones trashed as duplicates by their campaign's window.", 0),
    repeated: count('Lines whose leads stood already, by an import of the same Idempotency-Key.', 0),
    rejected: count('Lines that were not stored.', 1),
    extraLeftOut: count('Values beyond what is kept of fields that the contract does not name.', 0),
    ignoredColumns: Type.Array(Type.String(), {
      description:
        'The columns that were left out: those of `ignore`, and those of an export that the service decides itself.',
      examples: [['id', 'createdAt', 'Internal notes']],
    }),
    rejections: Type.Array(
      Type.Object(
        {
          line: Type.Integer({
            minimum: 1,
            description: 'The line of the file in which the record starts; the first is 1.',
            examples: [3],
          }),
          field: Type.Optional(
            Type.String({ description: 'The field at fault, where it is one.', examples: ['phone'] }),
          ),
          reason: Type.String({
            description: 'Why it was not stored, for people.',
            examples: ['phone is required'],
          }),
        },
        { additionalProperties: false },
      ),
      {
        description: `The first ${maxListedRejections} lines that were rejected.`,
        examples: [[{ line: 3, field: 'phone', reason: 'phone is required' }]],
      },
    ),
    truncated: Type.Boolean({
      description: 'Whether more lines were rejected than are listed.',
      examples: [false],
    }),
  },
  { additionalProperties: false, description: 'What became of the lines.' },
);
export type ImportAnswer = Static<typeof ImportAnswer>;

/** The body that sends a lead to the intake service with an API key, to try the key. */
export const IntakeTry = Type.Object(
  {
    apiKey: Type.String({
      maxLength: 100,
      pattern: '^lk_[0-9A-Za-z]*$',
      'x-reason': 'must be an API key',
    }),
    origin: Type.Optional(Type.String({ maxLength: 255, pattern: '^https?://[^/?#\\s@]+$' })),
    lead: IntakeLead,
  },
  { additionalProperties: false },
);
export type IntakeTry = Static<typeof IntakeTry>;

/** The answer of the intake service to such a lead. */
export const IntakeTryAnswer = Type.Object({
  status: Type.Integer({ description: 'The HTTP status of the answer.' }),
  body: Type.String({ description: 'The body of the answer.' }),
});
export type IntakeTryAnswer = Static<typeof IntakeTryAnswer>;
