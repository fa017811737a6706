export { createLead } from './create-lead.ts';
export { extraBounds } from './extra.ts';
export { IntakeLead, Lead, LeadQuery, NewLead } from './lead.schema.ts';
export type { ListedLead, StoredLead } from './lead.ts';
export type { LeadPosition, LeadScope, LeadStore } from './lead-store.ts';
export { listLeads } from './list-leads.ts';
export { submitLead } from './submit-lead.ts';
