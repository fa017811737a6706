export { type BufferedLeads, type BufferStream, LeadBuffer, type WaitingLeads } from './lead-buffer.ts';
