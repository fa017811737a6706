export { createSecretBox, minSecretLength, SealedTextError, type SecretBox } from './secret-box.ts';
export { createWebhookSecret, signWebhook, type WebhookHeaders } from './webhook-signature.ts';
