import { type ExportFormat, LeadFilterQuery } from '@leads/core/lead';
import type { Server } from '@leads/http/server';
import type { CrmContext } from '../../context.ts';
import { type ExportType, exportTypes, sendExport } from './export-leads.ts';
import { limitTransfers } from './transfers.ts';

/** As many as the list's own exports; see there. */
const exportsAtOnce = 4;

/**
 * Every lead that matches, as a file: what the list answers to `Accept`, at an address of its own, since a link of
 * the website cannot send that header.
 */
export function exportFileRoutes(app: Server, context: CrmContext): void {
  const transfers = limitTransfers(app, exportsAtOnce);
  for (const [type, format] of Object.entries(exportTypes) as [ExportType, ExportFormat][]) {
    app.get(
      `/order/leads.${format}`,
      { schema: { querystring: LeadFilterQuery } },
      ({ query, principal }, reply) => sendExport(reply, { context, transfers, principal, query, type }),
    );
  }
}
