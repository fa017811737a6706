import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { type DnsAnswer, startDnsServer } from '@leads/core/testing/dns-server';
import { createGate } from '@leads/core/testing/gate';
import {
  createCertificate,
  type Receiver,
  startReceiver,
  startTcpReceiver,
} from '@leads/core/testing/receivers';
import { describe, expect, test, vi } from 'vitest';
import { resolveHost } from './resolve-host.ts';
import {
  createSender,
  maxResponseBytes,
  type Sender,
  SendError,
  type SenderInternals,
  type SenderOptions,
  type SendRequest,
} from './send-request.ts';

const toLoopback: SenderInternals = {
  resolveHost: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
};
const loopback = { allowHttp: true, allowNetworks: ['127.0.0.0/8'] };

/** A sender that reaches this machine by any host name, and is closed at the end of a test. */
function openSender(
  options: Partial<SenderOptions> = {},
  internals: SenderInternals = {},
): Sender & AsyncDisposable {
  const sender = createSender({ ...loopback, ...options }, { ...toLoopback, ...internals });
  return { ...sender, [Symbol.asyncDispose]: () => sender.close() };
}

const get = (url: string, rest: Partial<SendRequest> = {}): SendRequest => ({
  url,
  method: 'GET',
  headers: {},
  ...rest,
});

/** Returns the status of the response, or the code of the error. @throws any other error. */
async function outcomeOf(sender: Sender, request: SendRequest): Promise<number | string> {
  try {
    return (await sender.send(request)).status;
  } catch (error) {
    if (error instanceof SendError) return error.code;
    throw error;
  }
}

describe('a request', () => {
  test('has the method, headers and body, and returns the response', async () => {
    await using receiver = await startReceiver((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        response.writeHead(503, { 'retry-after': '120', 'webhook-delivery': 'disable' });
        response.end(
          JSON.stringify({ url: request.url, method: request.method, headers: request.headers, body }),
        );
      });
    });
    await using sender = openSender();
    const url = `http://receiver.test:${receiver.port}/hook?a=b%20c#d`;
    const result = await sender.send({
      url,
      method: 'POST',
      headers: { 'X-Key': 'é' },
      body: '{"name":"Ada — 東京"}',
    });
    expect(result).toMatchObject({ status: 503, retryAfterSeconds: 120, isDisableRequested: true });
    expect(result.durationMs).toBeGreaterThanOrEqual(0);
    expect(JSON.parse(result.bodyStart)).toEqual({
      url: '/hook?a=b%20c',
      method: 'POST',
      headers: {
        host: `receiver.test:${receiver.port}`,
        connection: 'keep-alive',
        'x-key': 'é',
        'content-length': '25',
      },
      body: '{"name":"Ada — 東京"}',
    });
  });

  test('sends no cookie of an earlier response', async () => {
    await using receiver = await startReceiver((request, response) => {
      response.setHeader('set-cookie', 'session=1; path=/').end(request.headers.cookie ?? 'none');
    });
    await using sender = openSender();
    const url = `http://receiver.test:${receiver.port}/`;
    const results = [await sender.send(get(url)), await sender.send(get(url))];
    expect(results.map(({ bodyStart }) => bodyStart)).toEqual(['none', 'none']);
  });

  test.each([301, 302, 303, 307, 308])('follows no redirect with the status %d', async (status) => {
    const visits: (string | undefined)[] = [];
    await using receiver = await startReceiver((request, response) => {
      visits.push(request.url);
      response.writeHead(status, { location: '/target' }).end();
    });
    await using sender = openSender();
    expect(await outcomeOf(sender, get(`http://receiver.test:${receiver.port}/`))).toBe(status);
    expect(visits).toEqual(['/']);
  });

  test.each([
    { 'x-key': 'a\r\nhost: other.example' },
    { 'x key': 'a' },
    { 'x-key': 'a\u0000' },
    { 'transfer-encoding': 'chunked' },
  ])('with the invalid headers %j is not sent', async (headers) => {
    await using receiver = await startReceiver((_request, response) => response.end());
    await using sender = openSender();
    expect(await outcomeOf(sender, get(`http://receiver.test:${receiver.port}/`, { headers }))).toBe(
      'invalid_request',
    );
    expect(receiver.connectionCount()).toBe(0);
  });
});

describe('over TLS', () => {
  const certificate = createCertificate('receiver.test');

  test('a request reaches a receiver with a valid certificate for its name', async () => {
    await using receiver = await startReceiver((_request, response) => response.end('secure'), certificate);
    await using sender = openSender({ allowHttp: false }, { ca: certificate.cert });
    const result = await sender.send(get(`https://receiver.test:${receiver.port}/`));
    expect(result).toMatchObject({ status: 200, bodyStart: 'secure' });
  });

  test('resumes the TLS session of an earlier connection to the same name, but not of another name', async () => {
    const both = createCertificate('receiver.test', 'other.test');
    const resumed: [string | undefined, boolean][] = [];
    await using receiver = await startReceiver((request, response) => {
      resumed.push([request.headers.host?.split(':')[0], (request.socket as TLSSocket).isSessionReused()]);
      response.end();
    }, both);
    await using sender = openSender({ allowHttp: false }, { ca: both.cert, maxKeptSockets: 0 });
    for (const name of ['receiver.test', 'receiver.test', 'other.test', 'receiver.test']) {
      expect(await outcomeOf(sender, get(`https://${name}:${receiver.port}/`))).toBe(200);
    }
    expect(resumed).toEqual([
      ['receiver.test', false],
      ['receiver.test', true],
      ['other.test', false],
      ['receiver.test', true],
    ]);
  });

  test.each([
    ['whose certificate is for another name', 'other.test', certificate.cert],
    ['whose certificate is not trusted', 'receiver.test', undefined],
  ])('a receiver %s is refused', async (_title, host, ca) => {
    await using receiver = await startReceiver((_request, response) => response.end(), certificate);
    await using sender = openSender({}, ca === undefined ? {} : { ca });
    expect(await outcomeOf(sender, get(`https://${host}:${receiver.port}/`))).toBe('tls_failed');
  });

  test('a receiver without TLS is refused', async () => {
    await using receiver = await startReceiver((_request, response) => response.end());
    await using sender = openSender();
    expect(await outcomeOf(sender, get(`https://receiver.test:${receiver.port}/`))).toBe('tls_failed');
  });
});

describe('the rules for destinations', () => {
  /** Sends to a receiver on this machine, whose address is not allowed, and returns the code of the error. */
  async function outcomeWithoutConnection(url: (port: number) => string, addresses: readonly string[] = []) {
    await using receiver = await startReceiver((_request, response) => response.end());
    await using sender = openSender(
      { allowNetworks: [] },
      {
        resolveHost: () =>
          Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))),
      },
    );
    const outcome = await outcomeOf(sender, get(url(receiver.port)));
    expect(receiver.connectionCount()).toBe(0);
    return outcome;
  }

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '0', 'localhost', '[::1]', '[::ffff:127.0.0.1]'])(
    'refuse a request to %s, without a connection',
    async (host) => {
      expect(await outcomeWithoutConnection((port) => `http://${host}:${port}/`)).toBe('address_not_allowed');
    },
  );

  test.each([
    [['127.0.0.1']],
    [['0.0.0.0']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['fd00:ec2::254']],
    [['fe80::1%lo']],
    [['93.184.216.34', '127.0.0.1']],
    [['127.0.0.1', '93.184.216.34']],
    [['2606:4700:4700::1111', '::1']],
  ])('refuse a name that resolves to %j, without a connection', async (addresses) => {
    const url = (port: number) => `http://receiver.test:${port}/`;
    expect(await outcomeWithoutConnection(url, addresses)).toBe('address_not_allowed');
  });

  test('check the name servers’ answer of each connection, and connect to the checked address', async () => {
    let answers: DnsAnswer[] = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2', '127.0.0.1'], ['127.0.0.2']];
    await using dns = await startDnsServer((_name, type) =>
      type === 'A' ? (answers.shift() ?? 'SERVFAIL') : [],
    );
    const reached: (string | undefined)[] = [];
    await using receiver = await startReceiver((request, response) => {
      reached.push(request.socket.localAddress);
      response.setHeader('connection', 'close').end();
    });
    await using sender = openSender(
      { allowNetworks: ['127.0.0.2/32'] },
      { resolveHost: (host) => resolveHost(host, { timeoutMs: 5000, servers: [dns.address] }) },
    );
    const outcomes: (number | string)[] = [];
    const questionCounts: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      outcomes.push(await outcomeOf(sender, get(`http://rebinding.test:${receiver.port}/`)));
      questionCounts.push(dns.questions.filter((question) => question === 'A rebinding.test').length);
    }
    expect(outcomes).toEqual([200, 'address_not_allowed', 'address_not_allowed', 200, 'dns_failed']);
    // A second question for the same connection could have another answer than the checked one.
    expect(questionCounts).toEqual([1, 2, 3, 4, 5]);
    expect(reached).toEqual(['127.0.0.2', '127.0.0.2']);
    answers = [];
  });

  test.each([
    ['ftp://receiver.test/', 'scheme_not_allowed'],
    ['http://user@receiver.test/', 'user_info_not_allowed'],
    ['http://receiver.test./', 'host_not_allowed'],
    ['http://receiver.test:25/', 'port_not_allowed'],
    ['receiver.test', 'invalid_url'],
  ])('refuse %s as %s before each request', async (url, code) => {
    await using sender = openSender();
    expect(await outcomeOf(sender, get(url))).toBe(code);
  });

  test('allow localhost with one of its addresses', async () => {
    await using receiver = await startReceiver((_request, response) => response.end());
    await using sender = openSender({}, { resolveHost: (host) => resolveHost(host, { timeoutMs: 5000 }) });
    expect(await outcomeOf(sender, get(`http://localhost:${receiver.port}/`))).toBe(200);
  });
});

describe('a receiver', () => {
  const silence = () => undefined;
  const never = new Promise<never>(silence);

  test.each<[string, (socket: Socket) => void]>([
    ['sends nothing', silence],
    ['sends a part of the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: ')],
    [
      'sends a part of the body',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'),
    ],
    ['sends interim responses only', (socket) => void trickle(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['sends headers without end', (socket) => void trickle(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n')],
    ['sends a body slowly', (socket) => void trickle(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'a')],
  ])('that %s has a timeout, and its connection is closed', async (_title, onRequest) => {
    await using receiver = await startTcpReceiver((socket) => socket.once('data', () => onRequest(socket)));
    await using sender = openSender({ timeoutMs: 300 });
    expect(await outcomeOf(sender, get(`http://receiver.test:${receiver.port}/`))).toBe('timeout');
    await expect.poll(() => receiver.openCount()).toBe(0);
  });

  test('with a silent name server has a timeout', async () => {
    await using sender = openSender({ timeoutMs: 100, connectTimeoutMs: 500 }, { resolveHost: () => never });
    expect(await outcomeOf(sender, get('http://receiver.test/'))).toBe('timeout');
  });

  test('that does not complete the TLS handshake has a timeout of its own', async () => {
    await using receiver = await startTcpReceiver((socket) => socket.resume());
    await using sender = openSender({ timeoutMs: 60_000, connectTimeoutMs: 100 });
    expect(await outcomeOf(sender, get(`https://receiver.test:${receiver.port}/`))).toBe('connect_timeout');
    await expect.poll(() => receiver.openCount()).toBe(0);
  });

  test('that sends an endless body is read to 64 KiB, and its connection is closed', async () => {
    await using receiver = await startReceiver((_request, response) => {
      const write = () => {
        while (!response.destroyed && response.write('a'.repeat(16_384)));
      };
      response.on('drain', write);
      write();
    });
    await using sender = openSender({ timeoutMs: 60_000 });
    const result = await sender.send(get(`http://receiver.test:${receiver.port}/`));
    expect(result.status).toBe(200);
    expect(result.bodyStart).toBe('a'.repeat(maxResponseBytes));
    await expect.poll(() => receiver.openCount()).toBe(0);
  });

  test.each([0, 1, maxResponseBytes - 1])(
    'that sends a body of %d bytes keeps its connection',
    async (bytes) => {
      await using receiver = await startReceiver((_request, response) => response.end('a'.repeat(bytes)));
      await using sender = openSender();
      for (let i = 0; i < 3; i += 1) {
        const result = await sender.send(get(`http://receiver.test:${receiver.port}/`));
        expect(result.bodyStart).toHaveLength(bytes);
      }
      // A request that follows a response at once can open a second connection.
      expect(receiver.connectionCount()).toBeLessThanOrEqual(2);
    },
  );

  test('that sends a compressed or broken text is read as it is', async () => {
    const body = Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff, 0x41]);
    await using receiver = await startReceiver((_request, response) => {
      response.setHeader('content-encoding', 'gzip').end(body);
    });
    await using sender = openSender();
    const { bodyStart } = await sender.send(get(`http://receiver.test:${receiver.port}/`));
    expect(bodyStart).toBe(body.toString('utf8'));
  });

  test.each<[string, string, string | number]>([
    ['garbage', '\u0000\u0001garbage\r\n\r\n', 'invalid_response'],
    ['another protocol', '220 mail.example ESMTP\r\n', 'invalid_response'],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'invalid_response'],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      'invalid_response',
    ],
    ['huge headers', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}\r\n\r\n`, 'invalid_response'],
    [
      'an upgrade',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'connection_lost',
    ],
    ['a short body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'connection_lost'],
    ['nothing', '', 'connection_lost'],
    ['a part of the headers', 'HTTP/1.1 200 OK\r\nx-a', 'connection_lost'],
    ['a body without length', 'HTTP/1.1 200 OK\r\n\r\nabc', 200],
    ['a late second response', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 No\r\n\r\n', 200],
  ])('that sends %s and closes the connection has a known outcome', async (_title, text, outcome) => {
    await using receiver = await startTcpReceiver((socket) => socket.once('data', () => socket.end(text)));
    await using sender = openSender({ timeoutMs: 60_000 });
    expect(await outcomeOf(sender, get(`http://receiver.test:${receiver.port}/`))).toBe(outcome);
  });

  test('that sends garbage is an error without the garbage', async () => {
    await using receiver = await startTcpReceiver((socket) =>
      socket.once('data', () => socket.end('Ada 555 0100')),
    );
    await using sender = openSender();
    const url = `http://receiver.test:${receiver.port}/`;
    const error: unknown = await sender.send(get(url)).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(SendError);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('555 0100');
  });

  test('that is not there refuses the connection', async () => {
    const port = await unusedPort();
    await using sender = openSender();
    expect(await outcomeOf(sender, get(`http://receiver.test:${port}/`))).toBe('connection_refused');
  });

  test('without an address is an error whose message has no address', async () => {
    await using sender = openSender({}, { resolveHost: () => Promise.reject(new Error('queryA 10.0.0.53')) });
    const error: unknown = await sender.send(get('http://receiver.test/')).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(SendError);
    expect(error).toMatchObject({ code: 'dns_failed', message: 'The host name has no address' });
  });
});

describe('connections', () => {
  test('a kept connection that the receiver closes at the moment of a request is replaced once', async () => {
    const response = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    await using receiver = await startTcpReceiver((socket) => {
      let count = 0;
      socket.on('data', () => {
        count += 1;
        if (count === 1) socket.write(response);
        else socket.end();
      });
    });
    await using sender = openSender();
    const post = get(`http://receiver.test:${receiver.port}/`, { method: 'POST', body: 'a' });
    expect([await outcomeOf(sender, post), await outcomeOf(sender, post)]).toEqual([200, 200]);
    expect(receiver.connectionCount()).toBe(2);
  });

  test.each(['', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'])(
    'a request is not repeated if the receiver answers %j and closes a new connection',
    async (response) => {
      await using receiver = await startTcpReceiver((socket) =>
        socket.once('data', () => socket.end(response)),
      );
      await using sender = openSender();
      expect(await outcomeOf(sender, get(`http://receiver.test:${receiver.port}/`))).toBe('connection_lost');
      expect(receiver.connectionCount()).toBe(1);
    },
  );

  test('there are at most 64 to one host, and further requests wait', async () => {
    const gate = createGate();
    await using receiver = await startReceiver((_request, response) => {
      void gate.opened.then(() => response.end());
    });
    await using sender = openSender({ timeoutMs: 60_000 });
    const requests = Array.from({ length: 100 }, () =>
      outcomeOf(sender, get(`http://receiver.test:${receiver.port}/`)),
    );
    await expect.poll(() => receiver.openCount()).toBe(64);
    gate.open();
    expect(new Set(await Promise.all(requests))).toEqual(new Set([200]));
    expect(receiver.connectionCount()).toBe(64);
  });

  test('beyond the total number of kept ones, each closes after its response', async () => {
    await using receiver = await startReceiver((request, response) =>
      response.end(request.headers.connection),
    );
    await using sender = openSender({}, { maxKeptSockets: 2 });
    const modes: string[] = [];
    for (const host of ['a.test', 'b.test', 'c.test', 'd.test', 'a.test']) {
      modes.push((await sender.send(get(`http://${host}:${receiver.port}/`))).bodyStart);
    }
    expect(modes).toEqual(['keep-alive', 'keep-alive', 'close', 'close', 'close']);
  });

  test('a caller can cancel a request, before and after it begins', async () => {
    await using receiver = await startReceiver(() => undefined);
    await using sender = openSender({ timeoutMs: 60_000 });
    const url = `http://receiver.test:${receiver.port}/`;
    expect(await outcomeOf(sender, get(url, { signal: AbortSignal.abort() }))).toBe('aborted');
    expect(receiver.connectionCount()).toBe(0);

    const abort = new AbortController();
    const remove = vi.spyOn(abort.signal, 'removeEventListener');
    const outcome = outcomeOf(sender, get(url, { signal: abort.signal }));
    await expect.poll(() => receiver.openCount()).toBe(1);
    abort.abort();
    expect(await outcome).toBe('aborted');
    expect(remove).toHaveBeenCalledOnce();
    await expect.poll(() => receiver.openCount()).toBe(0);
  });

  test('closing a sender completes its requests, closes its connections and refuses new requests', async () => {
    const gate = createGate();
    await using receiver = await startReceiver((_request, response) => {
      void gate.opened.then(() => response.end());
    });
    const sender = createSender(loopback, toLoopback);
    const url = `http://receiver.test:${receiver.port}/`;
    const outcome = outcomeOf(sender, get(url));
    await expect.poll(() => receiver.openCount()).toBe(1);
    const closed = sender.close();
    gate.open();
    expect(await outcome).toBe(200);
    await closed;
    await expect.poll(() => receiver.openCount()).toBe(0);
    expect(await outcomeOf(sender, get(url))).toBe('aborted');
  });
});

describe('through a proxy', () => {
  interface Proxy extends Receiver {
    /** The first lines of the requests to the proxy. */
    readonly requests: string[];
    readonly credentials: Set<string | undefined>;
  }

  /** Starts a proxy that connects to this machine for any host name, or answers CONNECT with an error. */
  async function startProxy(error?: string): Promise<Proxy> {
    const requests: string[] = [];
    const credentials = new Set<string | undefined>();
    const receiver = await startTcpReceiver((socket) => {
      socket.once('data', (data) => {
        const head = data.toString('latin1');
        requests.push(head.slice(0, head.indexOf('\r\n')));
        credentials.add(/proxy-authorization: (.*)\r\n/i.exec(head)?.[1]);
        if (error !== undefined) {
          socket.end(`HTTP/1.1 ${error}\r\ncontent-length: 0\r\n\r\n`);
          return;
        }
        const [, port = ''] = /^(?:CONNECT |GET http:\/\/)[^:]+:(\d+)/.exec(head) ?? [];
        const target = connect(Number(port), '127.0.0.1');
        target.on('error', () => socket.destroy());
        if (head.startsWith('CONNECT')) socket.write('HTTP/1.1 200 OK\r\n\r\n');
        else target.write(data);
        socket.pipe(target).pipe(socket);
      });
    });
    return {
      ...receiver,
      requests,
      credentials,
      [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
    };
  }

  const refuseLookups = { resolveHost: () => Promise.reject(new Error('resolved a name')) };

  test('an https request has a tunnel, and an http request has an absolute URL; no name is resolved', async () => {
    const certificate = createCertificate('receiver.test');
    await using secure = await startReceiver((_request, response) => response.end('secure'), certificate);
    await using plain = await startReceiver((_request, response) => response.end('plain'));
    await using proxy = await startProxy();
    await using sender = openSender(
      { allowNetworks: [], proxyUrl: `http://user:pass%21@127.0.0.1:${proxy.port}` },
      { ...refuseLookups, ca: certificate.cert },
    );
    const results = [
      await sender.send(get(`https://receiver.test:${secure.port}/a`)),
      await sender.send(get(`http://receiver.test:${plain.port}/b`)),
    ];
    expect(results.map(({ bodyStart }) => bodyStart)).toEqual(['secure', 'plain']);
    expect(proxy.requests).toEqual([
      `CONNECT receiver.test:${secure.port} HTTP/1.1`,
      `GET http://receiver.test:${plain.port}/b HTTP/1.1`,
    ]);
    expect([...proxy.credentials]).toEqual([`Basic ${Buffer.from('user:pass!').toString('base64')}`]);
  });

  test.each(['https://127.0.0.1/', 'https://10.0.0.1/', 'https://localhost/', 'https://[::ffff:10.0.0.1]/'])(
    '%s is refused without a connection to the proxy',
    async (url) => {
      await using proxy = await startProxy();
      await using sender = openSender({ allowNetworks: [], proxyUrl: `http://127.0.0.1:${proxy.port}` });
      expect(await outcomeOf(sender, get(url))).toBe('address_not_allowed');
      expect(proxy.connectionCount()).toBe(0);
    },
  );

  test.each(['403 Forbidden', '407 Proxy Authentication Required', '502 Bad Gateway'])(
    'a tunnel that the proxy refuses with %s is an error of the proxy',
    async (error) => {
      await using proxy = await startProxy(error);
      await using sender = openSender({ proxyUrl: `http://127.0.0.1:${proxy.port}` });
      expect(await outcomeOf(sender, get('https://receiver.test/'))).toBe('proxy_failed');
    },
  );

  test('an unavailable proxy is an error of the proxy', async () => {
    await using sender = openSender({ proxyUrl: `http://127.0.0.1:${await unusedPort()}` });
    expect(await outcomeOf(sender, get('https://receiver.test/'))).toBe('proxy_failed');
    expect(await outcomeOf(sender, get('http://receiver.test/'))).toBe('proxy_failed');
  });

  test('a silent proxy has a timeout', async () => {
    await using proxy = await startTcpReceiver((socket) => socket.resume());
    await using sender = openSender({ proxyUrl: `http://127.0.0.1:${proxy.port}`, timeoutMs: 200 });
    expect(await outcomeOf(sender, get('https://receiver.test/'))).toBe('timeout');
    await expect.poll(() => proxy.openCount()).toBe(0);
  });

  test.each(['socks5://127.0.0.1:1080', 'proxy.example:3128', ''])(
    'the proxy URL %j is refused at start',
    (proxyUrl) => {
      expect(() => createSender({ ...loopback, proxyUrl })).toThrow(RangeError);
    },
  );
});

/** Sends `first` and then `rest` every 10 ms until the connection is closed. */
async function trickle(socket: Socket, first: string, rest = first): Promise<void> {
  socket.write(first);
  const timer = setInterval(() => socket.write(rest), 10);
  await once(socket, 'close').catch(() => undefined);
  clearInterval(timer);
}

async function unusedPort(): Promise<number> {
  await using receiver = await startTcpReceiver(() => undefined);
  return receiver.port;
}
