export { AuditEntryView, AuditQuery } from './audit.schema.ts';
export { type AuditAction, auditActions } from './audit-actions.ts';
export {
  type AuditedAction,
  type AuditEntry,
  type AuditOrigin,
  type AuditStore,
  createRecordAction,
  type RecordAction,
} from './audit-log.ts';
export { exportAuditLog, listAuditLog } from './list-audit-log.ts';
