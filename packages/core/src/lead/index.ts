export { storable } from '../fields.ts';
export { addLeadNote, listLeadNotes } from './lead-notes.ts';
export { assignLeads } from './assign-leads.ts';
export { AssigneeRemover, type AssigneeStore } from './assignee-remover.ts';
export type { ChangeResult } from './change-each.ts';
export { changeStatuses } from './change-status.ts';
export { createLead } from './create-lead.ts';
export { editLead } from './edit-lead.ts';
export { type ExportFormat, exportFormats, exportLeads } from './export-leads.ts';
export { extraBounds } from './extra.ts';
export { getLead, getLeadHistory } from './get-lead.ts';
export {
  approveAllDue,
  HoldTimers,
  type HeldLeads,
  type HoldTimerStore,
  type WaitingLeads,
} from './hold-timers.ts';
export { earlierId, IdempotencyKey, keyOwnerOf, leadIdFor } from './idempotency.ts';
export { type ImportReport, importLeads } from './import-leads.ts';
export { importStatuses, type StatusImportReport } from './import-statuses.ts';
export type { ImportRejection } from './import-row.ts';
export { insertEach, type StoredOutcome } from './insert-each.ts';
export {
  IntakeLead,
  Lead,
  AssignmentUndo,
  LeadAssignment,
  LeadDetail,
  LeadExport,
  LeadFilterQuery,
  LeadHistoryEntry,
  LeadPatch,
  LeadQuery,
  NewLead,
  StatusChange,
} from './lead.schema.ts';
export type { FoundLead, StoredLead } from './lead.ts';
export {
  AssignmentAnswer,
  ImportAnswer,
  IntakeTry,
  IntakeTryAnswer,
  LeadCreated,
  LeadEdited,
  maxListedRejections,
  StatusChangeAnswer,
} from './lead-answers.schema.ts';
export {
  type LeadQuarantine,
  type QuarantinedLead,
  type ReplayReport,
  replayQuarantined,
  storedLater,
  toQuarantined,
} from './lead-quarantine.ts';
export { LeadNote, LeadNoteAdded, LeadNoteQuery, NewLeadNote } from './lead-note.schema.ts';
export type { LeadNoteStore } from './lead-note-store.ts';
export { LeadViewer, ListedViewer } from './lead-viewer.schema.ts';
export { type LeadViewerStore, leaveLead, listViewers, viewLead } from './lead-viewers.ts';
export { shownChange, shownLead, visibleTo } from './lead-scope.ts';
export { LeadJob, LeadJobAnswer, NewLeadJob } from './lead-job.schema.ts';
export { LeadJobRunner } from './lead-job-runner.ts';
export type { LeadJobStore } from './lead-job-store.ts';
export {
  cancelLeadJob,
  getLeadJob,
  jobScopes,
  listLeadJobs,
  startLeadJob,
  undoLeadJob,
} from './lead-jobs.ts';
export { LeadStatus } from './lead-status.ts';
export type {
  ChangedLead,
  InsertOutcome,
  LeadAfterChange,
  LeadStore,
  LeadToInsert,
  StatusChangeFrom,
} from './lead-store.ts';
export { LeadColumnQuery, LeadColumnValues, listLeadColumns } from './list-lead-columns.ts';
export { countLeads, listLeads } from './list-leads.ts';
export { NewSavedView, SavedView, SavedViewAnswer, SavedViewChanges } from './saved-view.schema.ts';
export {
  createSavedView,
  deleteSavedView,
  listSavedViews,
  type SavedViewStore,
  updateSavedView,
} from './saved-views.ts';
export { type StatusAlias, StatusAliases, StatusAliasesAnswer } from './status-alias.schema.ts';
export {
  listStatusAliases,
  replaceStatusAliases,
  type StatusAliasStore,
  withStatus,
} from './status-aliases.ts';
export { StatusImportAnswer, StatusImportLine } from './status-import.schema.ts';
export { type LeadSink, submitLead } from './submit-lead.ts';
export { undoAssignment } from './undo-changes.ts';
