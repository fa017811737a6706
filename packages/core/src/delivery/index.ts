export { createSecretBox, minSecretLength, SealedTextError, type SecretBox } from './secret-box.ts';
