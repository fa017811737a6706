import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';
import { Assignee, LeadFilterQuery } from './lead.schema.ts';
import { LeadStatus, StatusReason } from './lead-status.ts';
import { StatusName } from './status-alias.schema.ts';

/** The states of a job. */
const jobStates = ['running', 'done', 'cancelled', 'failed'] as const;

/** The filters that can hold personal data, and their value in a job that has ended. */
export const personalFilters: readonly string[] = ['q', 'phone'];
export const removedFilter = '*';

/** The maximum number of refused leads that a job lists. */
export const maxListedRefusals = 100;

const { sort: _sort, ...filters } = LeadFilterQuery.properties;
const Filters = Type.Object(filters, {
  additionalProperties: false,
  description:
    'The leads to change: those that match when the job reaches them, and were created before the job. The filters have the names and values of the query parameters of the list. An empty object means every lead. When the job ends, its `q` and `phone` become `*`, because they can be personal data.',
  examples: [{ status: 'OnHold', campaignCode: 'DEMO' }],
});

const action = Type.Enum(['status', 'assign'], {
  description: 'What the job does: `status` changes the status of leads, `assign` sets their assignee.',
  examples: ['status'],
});

/** The body of a request that starts a job. */
export const NewLeadJob = Type.Object(
  {
    action,
    filters: Filters,
    status: Type.Optional(StatusName),
    reason: Type.Optional(StatusReason),
    assigneeId: Type.Optional(Assignee),
  },
  {
    additionalProperties: false,
    description:
      'A job for all leads that match filters. The action `status` needs `status`, and `reason` if a change needs one. The action `assign` needs `assigneeId`.',
    // The examples of all fields together would be no valid body.
    examples: [
      {
        action: 'status',
        filters: { status: 'OnHold', campaignCode: 'DEMO' },
        status: 'Approved',
        reason: 'Number is not in service',
      },
    ],
  },
);
export type NewLeadJob = Static<typeof NewLeadJob>;

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [1200] });

/** A job for all leads that match filters, with its progress. */
export const LeadJob = Type.Object(
  {
    id: id('Unique identifier of the job (UUID).'),
    action,
    filters: Filters,
    status: Type.Optional(LeadStatus),
    reason: Type.Optional(StatusReason),
    assigneeId: Type.Optional(
      id('The new assignee. Absent if the action is not `assign`, and if the job removes the assignee.'),
    ),
    undoes: Type.Optional(
      id(
        'The job that this job undoes. The action, filters, status, reason and assignee are those of that job.',
      ),
    ),
    undoneBy: Type.Optional(id('The job that undoes this job, if it is running or done.')),
    state: Type.Enum([...jobStates], {
      description:
        'State of the job. A running job continues after a restart of the service. A job fails if its user is no longer an owner or manager, or if its new assignee is not.',
      examples: ['running'],
    }),
    userId: id('The user that started the job.'),
    total: Type.Optional(
      count(
        'The number of leads that matched when the job started; of a job that undoes another one, the number of changes to undo. Absent until they are counted.',
      ),
    ),
    changed: count('The number of changed leads.'),
    refused: count('The number of leads that the job found and could not change.'),
    refusals: Type.Array(
      Type.Object(
        {
          id: id('The lead.'),
          message: Type.String({
            description: 'Why it was not changed.',
            examples: ['A lead cannot go from Trashed to Approved'],
          }),
        },
        { additionalProperties: false },
      ),
      {
        description: `The first refused leads, at most ${maxListedRefusals}.`,
        examples: [
          [
            {
              id: '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f',
              message: 'A lead cannot go from Trashed to Approved',
            },
          ],
        ],
      },
    ),
    createdAt: dateTime('When the job was started.'),
    finishedAt: Type.Optional(dateTime('When the job ended.')),
  },
  { additionalProperties: false, description: 'A job.' },
);
export type LeadJob = Static<typeof LeadJob>;

/** The response to a request that starts, reads or cancels a job. */
export const LeadJobAnswer = Type.Object(
  { success: Type.Literal(true), job: LeadJob },
  { additionalProperties: false, description: 'The job.' },
);
