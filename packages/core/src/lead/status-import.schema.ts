import { type Static, Type } from 'typebox';
import { storable } from '../fields.ts';
import { importRejections, lineCount } from './lead-answers.schema.ts';
import { StatusReason } from './lead-status.ts';
import { StatusName } from './status-alias.schema.ts';

const term = Type.Optional(Type.String({ maxLength: 255, ...storable }));

/** A line of a file with statuses. Empty cells are absent. */
export const StatusImportLine = Type.Object({
  id: Type.Optional(Type.String({ maxLength: 255 })),
  s1: term,
  phone: term,
  campaignCode: term,
  status: StatusName,
  reason: Type.Optional({ ...StatusReason, ...storable }),
});
export type StatusImportLine = Static<typeof StatusImportLine>;

/** The response to an import of statuses: its report. */
export const StatusImportAnswer = Type.Object(
  {
    success: Type.Literal(true),
    changed: lineCount('Number of leads whose status was changed.', 2),
    unchanged: lineCount('Number of lines whose lead already had the status.', 0),
    repeated: lineCount('Number of lines that an import with the same Idempotency-Key already applied.', 0),
    rejected: lineCount('Number of lines that changed nothing because of an error.', 1),
    ignoredColumns: Type.Array(Type.String(), {
      description: 'Names of the columns that the import does not use.',
      examples: [['name', 'Operator']],
    }),
    ...importRejections({ line: 3, field: 'status', reason: 'A lead cannot go from Paid to OnHold' }),
  },
  { additionalProperties: false, description: 'The report of the import.' },
);
export type StatusImportAnswer = Static<typeof StatusImportAnswer>;
