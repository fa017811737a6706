export type { EventOutbox } from './event-outbox.ts';
export { isEventId } from './event-position.ts';
export { EventRelay } from './event-relay.ts';
export { LeadEvent, LeadEventType } from './lead-event.schema.ts';
export { eventSubject } from './lead-event.ts';
export { OutboxMonitor } from './outbox-monitor.ts';
