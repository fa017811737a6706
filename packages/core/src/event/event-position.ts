/** A position in the event stream, after the event with the sequence number. */
export interface EventPosition {
  /** The creation time of the stream, in milliseconds since 1970. A recreated stream restarts its sequence. */
  readonly streamMs: number;
  readonly sequence: number;
}

/** Returns a position as a text, which is opaque to clients. */
export function formatPosition({ streamMs, sequence }: EventPosition): string {
  return `${streamMs.toString(36)}-${sequence.toString(36)}`;
}

/** Parses a position; returns `undefined` for any other text. */
export function parsePosition(text: string): EventPosition | undefined {
  const [, stream = '', number = ''] = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})$/.exec(text) ?? [];
  const position = { streamMs: Number.parseInt(stream, 36), sequence: Number.parseInt(number, 36) };
  return Number.isSafeInteger(position.streamMs) && Number.isSafeInteger(position.sequence)
    ? position
    : undefined;
}

/** Whether a text is an event id as the event stream returns it. */
export const isEventId = (text: string): boolean => parsePosition(text) !== undefined;
