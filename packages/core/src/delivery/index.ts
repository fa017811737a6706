export {
  createDestinationGuard,
  DestinationError,
  type DestinationErrorCode,
  type DestinationGuard,
  type DestinationRules,
} from './destination.ts';
export { createSecretBox, minSecretLength, SealedTextError, type SecretBox } from './secret-box.ts';
export {
  createSender,
  maxResponseBytes,
  type Sender,
  SendError,
  type SendErrorCode,
  type SenderOptions,
  type SendRequest,
  type SendResult,
} from './send-request.ts';
export { createWebhookSecret, signWebhook, type WebhookHeaders } from './webhook-signature.ts';
