import { type Static, Type } from 'typebox';
import { dateTime, id, label } from '../fields.ts';
import { LeadFilterQuery } from './lead.schema.ts';
import { sorts } from './sort-fields.ts';
import { type LeadColumn, leadColumns } from './view-columns.ts';

const { sort, ...filters } = LeadFilterQuery.properties;

const ViewColumn = Type.Enum([...leadColumns], { description: 'A column of the list.', examples: ['name'] });

const Width = Type.Optional(
  Type.Integer({ minimum: 48, maximum: 960, description: 'Width in CSS pixels.', examples: [240] }),
);
const widths = Object.fromEntries(leadColumns.map((name) => [name, Width])) as Record<
  LeadColumn,
  typeof Width
>;

const viewFields = {
  name: label('Name of the view.', 'Open leads of Spring'),
  shared: Type.Boolean({
    description:
      'Whether the view belongs to the workspace. Owners and managers see and change shared views. Only its creator sees and changes another view.',
    examples: [false],
  }),
  filters: Type.Object(filters, {
    additionalProperties: false,
    description: 'The filters, with the names and values of the query parameters of the list.',
    examples: [{ status: 'OnHold,Approved', campaignCode: 'DEMO' }],
  }),
  columns: Type.Array(ViewColumn, {
    minItems: 1,
    maxItems: leadColumns.length,
    uniqueItems: true,
    description: 'The columns in their order. If absent, the website shows its usual columns.',
    examples: [['name', 'phone', 'status']],
  }),
  widths: Type.Object(widths, {
    additionalProperties: false,
    description: 'The widths of columns in CSS pixels.',
    examples: [{ name: 240 }],
  }),
};

/** The body of a request that creates a view. */
export const NewSavedView = Type.Object(
  {
    name: viewFields.name,
    shared: Type.Optional(viewFields.shared),
    filters: Type.Optional(viewFields.filters),
    sort,
    columns: Type.Optional(viewFields.columns),
    widths: Type.Optional(viewFields.widths),
  },
  { additionalProperties: false, description: 'A view of the lead list.' },
);
export type NewSavedView = Static<typeof NewSavedView>;

/** The body of a request that changes a view. A given value replaces the stored one, and `null` removes it. */
export const SavedViewChanges = Type.Object(
  {
    ...NewSavedView.properties,
    name: Type.Optional(viewFields.name),
    sort: Type.Optional(
      Type.Union([Type.Enum([...sorts]), Type.Null()], {
        description: 'The sort order. `null` removes it.',
        examples: ['-createdAt'],
      }),
    ),
    columns: Type.Optional(
      Type.Union([viewFields.columns, Type.Null()], {
        description: 'The columns in their order. `null` removes them.',
        examples: [['name', 'phone', 'status']],
      }),
    ),
    widths: Type.Optional(
      Type.Union([viewFields.widths, Type.Null()], {
        description: 'The widths of columns in CSS pixels. `null` removes them.',
        examples: [{ name: 240 }],
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1, description: 'The changes of a view.' },
);
export type SavedViewChanges = Static<typeof SavedViewChanges>;

/** A saved view of the lead list. */
export const SavedView = Type.Object(
  {
    id: id('Unique identifier of the view (UUID).'),
    name: viewFields.name,
    shared: viewFields.shared,
    filters: viewFields.filters,
    sort,
    columns: Type.Optional(viewFields.columns),
    widths: Type.Optional(viewFields.widths),
    createdAt: dateTime('Time at which the view was created.'),
    updatedAt: dateTime('Time of the last change of the view.'),
  },
  { additionalProperties: false, description: 'A saved view of the lead list.' },
);
export type SavedView = Static<typeof SavedView>;

/** The response to a request that creates, changes or deletes a view. */
export const SavedViewAnswer = Type.Object(
  { success: Type.Literal(true), view: SavedView },
  { additionalProperties: false, description: 'The view.' },
);
