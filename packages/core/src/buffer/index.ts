export { type BufferedLeads, type BufferStream, LeadBuffer } from './lead-buffer.ts';
