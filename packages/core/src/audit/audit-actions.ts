/** The actions of the audit log. Removing a name would break the filters of integrators. */
export const auditActions = [
  'sign_in',
  'sign_in.failed',
  'sign_out',
  'session.ended',
  'password.changed',
  'password.reset',
  'two_factor.enabled',
  'two_factor.disabled',
  'two_factor.failed',
  'two_factor.codes_renewed',
  'api_key.created',
  'api_key.rotated',
  'api_key.revoked',
  'access_token.created',
  'access_token.revoked',
  'member.added',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.accepted',
  'invitation.canceled',
  'invitation.rejected',
  'workspace.created',
  'workspace.renamed',
  'campaign.created',
  'campaign.changed',
  'landing_page.created',
  'landing_page.mapped',
  'landing_page.dismissed',
  'landing_page.restored',
  'integration_link.created',
  'integration_link.removed',
  'leads.exported',
  'leads.imported',
  'audit.exported',
  'person.erased',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Where an action comes from: the website, the API, or the command line. */
export const auditSources = ['website', 'api', 'cli'] as const;
export type AuditSource = (typeof auditSources)[number];
