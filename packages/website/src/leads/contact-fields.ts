import { type LeadFieldName, type NewLeadFieldName, newLeadFieldNames } from '@leads/core/lead/fields';
import * as texts from '../texts/index.ts';

/* The fields of a lead in forms, in the order of their labels. */

export type ContactField = keyof typeof texts.leads.fields;

/** The fields that an edit can change. */
export const contactFields = Object.keys(texts.leads.fields) as readonly ContactField[];

/** Fields with one line of text that are optional. The description has several lines and comes last. */
export const optionalFields = contactFields.filter(
  (name): name is Exclude<LeadFieldName, 'description'> =>
    name !== 'name' && name !== 'phone' && name !== 'description',
);

/** Returns whether a create request can set a field. */
export const isNewLeadField = (name: string): name is NewLeadFieldName =>
  newLeadFieldNames.some((each) => each === name);
