import { V7Generator } from 'uuidv7';

/** Random numbers of 32 bits. They are drawn in blocks: by default, the generator draws eight at a time, for 0.4 us an id. */
const random = new Uint32Array(1024);
let used = random.length;
const generator = new V7Generator({
  nextUint32() {
    if (used === random.length) {
      crypto.getRandomValues(random);
      used = 0;
    }
    return random[used++] as number;
  },
});

/** Returns a new UUID of version 7 (RFC 9562, 5.7). The ids of one process ascend. */
export function newId(): string {
  return generator.generate().toString();
}

/** Returns the UUID of 32 hexadecimal digits. */
export function uuidOfHex(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Matches a UUID of any version, in lower case. */
export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Sorts before all ids. */
export const firstId = '00000000-0000-0000-0000-000000000000';
