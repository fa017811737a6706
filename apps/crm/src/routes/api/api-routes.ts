import type { Server } from '@leads/http/server/create-server';
import { acceptLongBodies } from '@leads/http/server/long-body';
import type { CrmContext } from '../../context.ts';
import { listAuditLogRoute } from './audit/list-audit-log.ts';
import { createCampaignRoute } from './campaigns/create-campaign.ts';
import { listCampaignsRoute } from './campaigns/list-campaigns.ts';
import { updateCampaignRoute } from './campaigns/update-campaign.ts';
import { getDeliveryRoute } from './deliveries/get-delivery.ts';
import { resendDeliveryRoute } from './deliveries/resend-delivery.ts';
import { getStatementRoute } from './payouts/get-statement.ts';
import { cancelPaymentRoute } from './payments/cancel-payment.ts';
import { createPaymentRoute } from './payments/create-payment.ts';
import { getPaymentRoute } from './payments/get-payment.ts';
import { listPaymentsRoute } from './payments/list-payments.ts';
import { publisherPayoutsRoutes } from './payouts/publisher-payouts.ts';
import { createLandingPageRoute } from './landing-pages/create-landing-page.ts';
import { dismissLandingPageRoute } from './landing-pages/dismiss-landing-page.ts';
import { listLandingPagesRoute } from './landing-pages/list-landing-pages.ts';
import { mapLandingPageRoute } from './landing-pages/map-landing-page.ts';
import { assignLeadsRoute } from './leads/assign-leads.ts';
import { changeStatusesRoute } from './leads/change-statuses.ts';
import { createLeadRoute } from './leads/create-lead.ts';
import { editLeadRoute } from './leads/edit-lead.ts';
import { exportSelectionRoute } from './leads/export-selection.ts';
import { getLeadRoute } from './leads/get-lead.ts';
import { getLeadHistoryRoute } from './leads/get-lead-history.ts';
import { importLeadsRoute } from './leads/import-leads.ts';
import { importStatusesRoute } from './leads/import-statuses.ts';
import { leadNotesRoutes } from './leads/lead-notes.ts';
import { listLeadDeliveriesRoute } from './leads/list-lead-deliveries.ts';
import { listLeadsRoute } from './leads/list-leads.ts';
import { undoAssignmentRoute } from './leads/undo-assignment.ts';
import { createPostbackRoute } from './postbacks/create-postback.ts';
import { deletePostbackRoute } from './postbacks/delete-postback.ts';
import { getPostbackRoute } from './postbacks/get-postback.ts';
import { listPostbackDeliveriesRoute } from './postbacks/list-postback-deliveries.ts';
import { listPostbackPresetsRoute } from './postbacks/list-postback-presets.ts';
import { listPostbacksRoute } from './postbacks/list-postbacks.ts';
import { previewPostbackRoute } from './postbacks/preview-postback.ts';
import { recoverPostbackRoute } from './postbacks/recover-postback.ts';
import { testPostbackRoute } from './postbacks/test-postback.ts';
import { updatePostbackRoute } from './postbacks/update-postback.ts';
import { listStatusAliasesRoute } from './status-aliases/list-status-aliases.ts';
import { replaceStatusAliasesRoute } from './status-aliases/replace-status-aliases.ts';
import { cancelJobRoute } from './jobs/cancel-job.ts';
import { getJobRoute } from './jobs/get-job.ts';
import { listJobsRoute } from './jobs/list-jobs.ts';
import { startJobRoute } from './jobs/start-job.ts';
import { undoJobRoute } from './jobs/undo-job.ts';
import { createViewRoute } from './views/create-view.ts';
import { deleteViewRoute } from './views/delete-view.ts';
import { listViewsRoute } from './views/list-views.ts';
import { updateViewRoute } from './views/update-view.ts';
import { createWebhookRoute } from './webhooks/create-webhook.ts';
import { deleteWebhookRoute } from './webhooks/delete-webhook.ts';
import { getWebhookRoute } from './webhooks/get-webhook.ts';
import { listDeliveriesRoute } from './webhooks/list-deliveries.ts';
import { listWebhooksRoute } from './webhooks/list-webhooks.ts';
import { previewWebhookRoute } from './webhooks/preview-webhook.ts';
import { recoverDeliveriesRoute } from './webhooks/recover-deliveries.ts';
import { rotateWebhookSecretRoute } from './webhooks/rotate-webhook-secret.ts';
import { testWebhookRoute } from './webhooks/test-webhook.ts';
import { updateWebhookRoute } from './webhooks/update-webhook.ts';

/** Registers the routes of leads, campaigns, landing pages, webhooks, postbacks and the audit log. The guard of the scope authenticates the requests. */
export async function apiRoutes(app: Server, context: CrmContext): Promise<void> {
  createLeadRoute(app, context);
  listLeadsRoute(app, context);
  getLeadRoute(app, context);
  editLeadRoute(app, context);
  getLeadHistoryRoute(app, context);
  listLeadDeliveriesRoute(app, context);
  changeStatusesRoute(app, context);
  assignLeadsRoute(app, context);
  undoAssignmentRoute(app, context);
  exportSelectionRoute(app, context);
  leadNotesRoutes(app, context);
  // A separate scope, because it accepts only CSV bodies.
  await app.register(async (imports) => {
    acceptLongBodies(imports, 'text/csv');
    importLeadsRoute(imports, context);
    importStatusesRoute(imports, context);
  });

  listCampaignsRoute(app, context);
  listLandingPagesRoute(app, context);
  createCampaignRoute(app, context);
  updateCampaignRoute(app, context);
  publisherPayoutsRoutes(app, context);
  getStatementRoute(app, context);
  createPaymentRoute(app, context);
  listPaymentsRoute(app, context);
  getPaymentRoute(app, context);
  cancelPaymentRoute(app, context);
  createLandingPageRoute(app, context);
  mapLandingPageRoute(app, context);
  dismissLandingPageRoute(app, context);

  startJobRoute(app, context);
  listJobsRoute(app, context);
  getJobRoute(app, context);
  cancelJobRoute(app, context);
  undoJobRoute(app, context);

  listViewsRoute(app, context);
  createViewRoute(app, context);
  updateViewRoute(app, context);
  deleteViewRoute(app, context);

  listStatusAliasesRoute(app, context);
  replaceStatusAliasesRoute(app, context);

  createWebhookRoute(app, context);
  listWebhooksRoute(app, context);
  previewWebhookRoute(app, context);
  getWebhookRoute(app, context);
  updateWebhookRoute(app, context);
  rotateWebhookSecretRoute(app, context);
  testWebhookRoute(app, context);
  listDeliveriesRoute(app, context);
  recoverDeliveriesRoute(app, context);
  deleteWebhookRoute(app, context);

  createPostbackRoute(app, context);
  listPostbacksRoute(app, context);
  listPostbackPresetsRoute(app);
  previewPostbackRoute(app, context);
  getPostbackRoute(app, context);
  updatePostbackRoute(app, context);
  testPostbackRoute(app, context);
  listPostbackDeliveriesRoute(app, context);
  recoverPostbackRoute(app, context);
  deletePostbackRoute(app, context);

  getDeliveryRoute(app, context);
  resendDeliveryRoute(app, context);

  listAuditLogRoute(app, context);
}
