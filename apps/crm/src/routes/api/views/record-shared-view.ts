import type { SavedView } from '@leads/core/lead';
import type { FastifyRequest } from 'fastify';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Records an action on a shared view in the audit log, without its filters, which can hold personal data. */
export function recordSharedView(
  context: CrmContext,
  request: FastifyRequest,
  action: 'view.created' | 'view.changed' | 'view.deleted',
  { id, name, shared }: SavedView,
): Promise<void> {
  return context.recordAction(auditOrigin(request), {
    action,
    scope: request.principal,
    targetId: id,
    details: { name, shared },
  });
}
