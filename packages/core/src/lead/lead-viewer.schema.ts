import { type Static, Type } from 'typebox';
import { id } from '../fields.ts';

/** Another user with the lead open in the website. */
export const LeadViewer = Type.Object(
  { userId: id('Identifier of the user.'), name: Type.String({ description: 'Name of the user.' }) },
  { additionalProperties: false },
);
export type LeadViewer = Static<typeof LeadViewer>;

/** Another user with any lead open in the website, and the lead. */
export const ListedViewer = Type.Object(
  { leadId: id('Identifier of the lead.'), ...LeadViewer.properties },
  { additionalProperties: false },
);
export type ListedViewer = Static<typeof ListedViewer>;
