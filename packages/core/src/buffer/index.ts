export {
  type BufferedLeads,
  type BufferStream,
  bufferStreamName,
  LeadBuffer,
  type WaitingLeads,
} from './lead-buffer.ts';
