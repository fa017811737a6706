import { type Static, Type } from 'typebox';
import { errorKinds } from '../errors.ts';
import { id } from '../fields.ts';
import { IntakeLead, Lead, LeadDetail } from './lead.schema.ts';
import { LeadStatus } from './lead-status.ts';

/** The response to the creation of a lead. */
export const LeadCreated = Type.Object(
  { success: Type.Literal(true), lead: Lead },
  { additionalProperties: false, description: 'The lead is stored.' },
);
export type LeadCreated = Static<typeof LeadCreated>;

/** The response to a change of a lead. */
export const LeadEdited = Type.Object(
  { success: Type.Literal(true), lead: LeadDetail },
  { additionalProperties: false, description: 'The changed lead.' },
);
export type LeadEdited = Static<typeof LeadEdited>;

/** The response to a status change of several leads, with one result for each lead. */
export const StatusChangeAnswer = Type.Object(
  {
    success: Type.Literal(true),
    changed: Type.Integer({
      description: 'Number of leads that were changed, or had the values already.',
      examples: [1],
    }),
    refused: Type.Integer({ description: 'Number of leads that were not changed.', examples: [0] }),
    results: Type.Array(
      Type.Object(
        {
          id: Type.String({
            description: 'Identifier of the lead.',
            examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
          }),
          success: Type.Boolean({ description: 'Whether the lead was changed, or had the values already.' }),
          status: Type.Optional(LeadStatus),
          version: Type.Optional(
            Type.Integer({ description: 'Version of the lead after this change.', examples: [2] }),
          ),
          error: Type.Optional(
            Type.Enum([...errorKinds], {
              description: 'Error code, if the lead was not changed.',
              examples: ['validation'],
            }),
          ),
          message: Type.Optional(
            Type.String({
              description: 'Reason, if the lead was not changed.',
              examples: ['A lead cannot go from Paid to OnHold'],
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { description: 'One result for each lead, in the order of `ids`.', examples: [[]] },
    ),
  },
  { additionalProperties: false, description: 'The result for each lead.' },
);
export type StatusChangeAnswer = Static<typeof StatusChangeAnswer>;

/** The response to an assignment of several leads. */
export const AssignmentAnswer = Type.Object(
  {
    ...StatusChangeAnswer.properties,
    changeId: Type.Optional(
      id(
        'Identifies the changes of this request, so that they can be undone together. Absent if all leads had the values already.',
      ),
    ),
  },
  { additionalProperties: false, description: 'The result for each lead.' },
);
export type AssignmentAnswer = Static<typeof AssignmentAnswer>;

/** The maximum number of rejections that a response lists. */
export const maxListedRejections = 1000;

/** Returns the schema of a number of lines. */
export const lineCount = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] });

/** Returns the properties of a report that list the rejected lines. */
export const importRejections = (example: { line: number; field: string; reason: string }) => ({
  rejections: Type.Array(
    Type.Object(
      {
        line: Type.Integer({
          minimum: 1,
          description: 'Line of the file in which the record starts. The first line is 1.',
          examples: [example.line],
        }),
        field: Type.Optional(
          Type.String({
            description: 'Name of the first invalid field. Absent if no single field is the reason.',
            examples: [example.field],
          }),
        ),
        reason: Type.String({
          description: 'Human-readable reason for the rejection.',
          examples: [example.reason],
        }),
      },
      { additionalProperties: false },
    ),
    {
      description: `The first ${maxListedRejections} rejected lines.`,
      examples: [[example]],
    },
  ),
  truncated: Type.Boolean({
    description: 'Whether more lines were rejected than `rejections` lists.',
    examples: [false],
  }),
});

/** The response to an import: its report. */
export const ImportAnswer = Type.Object(
  {
    success: Type.Literal(true),
    accepted: lineCount('Number of stored leads, duplicates included.', 2),
    duplicates: lineCount(
      "Number of accepted leads that were trashed as duplicates within their campaign's duplicate window.",
      0,
    ),
    repeated: lineCount(
      'Number of lines whose leads were already stored by an import with the same Idempotency-Key.',
      0,
    ),
    rejected: lineCount('Number of lines that were not stored.', 1),
    extraLeftOut: lineCount(
      'Number of values of unknown fields that were dropped because they exceed the limits of `extra`.',
      0,
    ),
    ignoredColumns: Type.Array(Type.String(), {
      description:
        'Names of the skipped columns: the columns in `ignore`, and columns of an export whose values the service sets.',
      examples: [['id', 'createdAt', 'Internal notes']],
    }),
    ...importRejections({ line: 3, field: 'phone', reason: 'phone is required' }),
  },
  { additionalProperties: false, description: 'The report of the import.' },
);
export type ImportAnswer = Static<typeof ImportAnswer>;

/** The body of a request that sends a test lead to the intake service with an API key. */
export const IntakeTry = Type.Object(
  {
    apiKey: Type.String({
      maxLength: 100,
      pattern: '^lk_[0-9A-Za-z]*$',
      'x-reason': 'must be an API key',
    }),
    origin: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: '^https?://[A-Za-z0-9._~:%[\\]-]+$',
        'x-reason': 'must be an origin as browsers send it',
      }),
    ),
    lead: IntakeLead,
  },
  { additionalProperties: false },
);
export type IntakeTry = Static<typeof IntakeTry>;

/** The response of the intake service to a test lead. */
export const IntakeTryAnswer = Type.Object({
  status: Type.Integer({ description: 'HTTP status of the response.' }),
  body: Type.String({ description: 'Body of the response.' }),
});
export type IntakeTryAnswer = Static<typeof IntakeTryAnswer>;
