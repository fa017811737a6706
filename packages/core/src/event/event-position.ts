/** A place in the stream of events: after the event of that number. */
export interface EventPosition {
  /** When the stream was made, in milliseconds since 1970: another one counts anew. */
  readonly streamMs: number;
  readonly sequence: number;
}

/** A position as a text: opaque to who listens. */
export function formatPosition({ streamMs, sequence }: EventPosition): string {
  return `${streamMs.toString(36)}-${sequence.toString(36)}`;
}

/** @returns nothing for what is no position. */
export function parsePosition(text: string): EventPosition | undefined {
  const [, stream = '', number = ''] = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})$/.exec(text) ?? [];
  const position = { streamMs: Number.parseInt(stream, 36), sequence: Number.parseInt(number, 36) };
  return Number.isSafeInteger(position.streamMs) && Number.isSafeInteger(position.sequence)
    ? position
    : undefined;
}

/** Whether a text is the id that a reader of events gives to one. */
export const isEventId = (text: string): boolean => parsePosition(text) !== undefined;
