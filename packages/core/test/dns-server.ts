import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What the server answers to a question: addresses, an error (RFC 1035, 4.1.1), or nothing. */
export type DnsAnswer = readonly string[] | 'SERVFAIL' | 'NXDOMAIN' | 'silence';

/** A name server on a free port of 127.0.0.1. */
export interface DnsServer extends AsyncDisposable {
  /** The address in the form of `dns.setServers`. */
  readonly address: string;
  /** The questions so far, in the form `A example.test`. */
  readonly questions: string[];
}

const types = { A: 1, AAAA: 28 } as const;
const responseCodes = { SERVFAIL: 2, NXDOMAIN: 3 } as const;

/** Starts a name server. It calls `answer` for each question. */
export async function startDnsServer(
  answer: (name: string, type: 'A' | 'AAAA') => DnsAnswer,
): Promise<DnsServer> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, typeCode, end } = readQuestion(query);
    const type = typeCode === types.AAAA ? 'AAAA' : 'A';
    questions.push(`${type} ${name}`);
    const answered = answer(name, type);
    if (answered === 'silence') return;
    const addresses = typeof answered === 'string' ? [] : answered;
    const header = Buffer.from(query.subarray(0, 12));
    // A response with recursion (RFC 1035, 4.1.1), one question, and no additional records.
    header.writeUInt16BE(0x8180 | (typeof answered === 'string' ? responseCodes[answered] : 0), 2);
    for (const [offset, count] of [1, addresses.length, 0, 0].entries())
      header.writeUInt16BE(count, 4 + 2 * offset);
    const records = addresses.map((text) => toRecord(typeCode, text));
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}

function readQuestion(query: Buffer): { name: string; typeCode: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), typeCode: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Returns a record of the question's name, of class IN and with a time to live of 0 s. */
function toRecord(typeCode: number, address: string): Buffer {
  const bytes =
    typeCode === types.A
      ? address.split('.').map(Number)
      : address
          .split(':')
          .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
  return Buffer.from([0xc0, 0x0c, 0, typeCode, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
}
