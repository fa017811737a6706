export { Broker, type BrokerOptions } from './broker.ts';
export { type BrokerDurability, powerCutRisks } from './durability.ts';
export { createErasableBuffer, createErasableEvents, ErasureStream } from './erasure-streams.ts';
export { EventPublisher, type EventStream, eventStreamName } from './event-publisher.ts';
export { NatsEventReader } from './event-reader.ts';
export { Invalidations } from './invalidations.ts';
export {
  type BufferedLeads,
  type BufferStream,
  bufferStreamName,
  LeadBuffer,
  type WaitingLeads,
} from './lead-buffer.ts';
export { setUpEvents, setUpIntake } from './set-up-streams.ts';
export { NatsSnapshotStore } from './snapshot-store.nats.ts';
