export { createWebhook } from './create-webhook.ts';
export { deleteWebhook } from './delete-webhook.ts';
export { Deliverer, type DelivererEvents } from './deliverer.ts';
export {
  DeliveryAnswer,
  DeliveryQuery,
  type DeliveryState,
  DeliveryView,
  deliveryStates,
  LeadDeliveryQuery,
  Recovery,
  RecoveryAnswer,
} from './delivery.schema.ts';
export type { DeliveryNotices } from './delivery-notices.ts';
export { NoticeMailer } from './notice-mailer.ts';
export type { DeliveryQueue } from './delivery-queue.ts';
export { createDestinationGuard } from './destination.ts';
export { getDelivery, listDeliveries, listLeadDeliveries } from './list-deliveries.ts';
export type { DeliveryStore } from './delivery-store.ts';
export type { EndpointKind, EndpointMember } from './endpoint.ts';
export { FailingEndpoint } from './endpoint.schema.ts';
export { listFailingEndpoints } from './list-failing-endpoints.ts';
export { getWebhook, listWebhooks } from './list-webhooks.ts';
export { recoverDeliveries, resendDelivery, sendTest } from './resend-deliveries.ts';
export { type Reencryption, reencryptSecrets, type SealedTextStore } from './reencrypt-secrets.ts';
export { previewWebhook } from './preview-webhook.ts';
export { maxOverlapSeconds, rotateWebhookSecret } from './rotate-webhook-secret.ts';
export { createSecretBox } from './secret-box.ts';
export { createSender } from './send-request.ts';
export { updateWebhook } from './update-webhook.ts';
export {
  NewWebhook,
  SecretRotation,
  WebhookAnswer,
  WebhookChanges,
  WebhookPreview,
  WebhookPreviewAnswer,
  type WebhookRequest,
  WebhookShown,
  WebhookView,
} from './webhook.schema.ts';
export type { WebhookSettings } from './webhook-settings.ts';
export type { WebhookStore } from './webhook-store.ts';
export {
  createPostback,
  deletePostback,
  getPostback,
  listPostbacks,
  previewPostback,
  updatePostback,
} from './manage-postbacks.ts';
export {
  NewPostback,
  PostbackAnswer,
  PostbackChanges,
  PostbackPresetView,
  PostbackPreview,
  PostbackPreviewAnswer,
  PostbackView,
} from './postback.schema.ts';
export type { PostbackRequest } from './postback-request.ts';
export { postbackPresets } from './postback-presets.ts';
export type { PostbackStore } from './postback-store.ts';
