export { createRateLimit, type RateLimit, windowMs } from './rate-limit.ts';
