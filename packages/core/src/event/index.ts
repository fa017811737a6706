export type { EventOutbox } from './event-outbox.ts';
export { EventPublisher, type EventStream, eventStreamName } from './event-publisher.ts';
export { OutboxKeeper } from './outbox-keeper.ts';
export { EventRelay } from './event-relay.ts';
export { eventSubject } from './lead-event.ts';
export { LeadEvent, LeadEventType } from './lead-event.schema.ts';
export { isEventId } from './event-position.ts';
export { type EventFilter, EventReader, type EventStart, type EventStep } from './event-reader.ts';
