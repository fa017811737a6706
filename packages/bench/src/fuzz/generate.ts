import {
  exampleBody,
  exampleEntity,
  fillPath,
  isEndless,
  type OpenApiDocument,
  type Operation,
  type Route,
  requiredSchemes,
  routesOf,
} from '@leads/test-kit/openapi-document';
import {
  anyJson,
  constantFrom,
  headerValue,
  integer,
  irrelevantHeaders,
  mutationsOf,
  oneOf,
  query,
  samplesOf,
  storableText,
  tuple,
  unknownMembers,
} from '@leads/test-kit/suites/hostile-input';

/** A request in the bytes that are sent, and the parts that the check of its response needs. */
export interface GeneratedRequest {
  readonly method: string;
  readonly path: string;
  readonly bytes: Buffer;
}

export interface Target {
  readonly document: OpenApiDocument;
  /** Valid credentials of members of every role. */
  readonly members: readonly Readonly<Record<string, string>>[];
  /** Existing ids for the paths. */
  readonly ids: readonly string[];
}

/**
 * Generates requests to all documented operations with a finite response, in turn. The same seed generates the same
 * requests.
 */
export function generateRequests(target: Target, count: number, seed: number): GeneratedRequest[] {
  const routes = routesOf(target.document).filter(({ operation }) => !isEndless(operation));
  const perRoute = Math.ceil(count / routes.length);
  const generated = routes.map((route, index) => requestsTo(route, target, perRoute, seed + index));
  return Array.from({ length: perRoute }, (_, i) => generated.flatMap((requests) => requests[i] ?? []))
    .flat()
    .slice(0, count);
}

function requestsTo(route: Route, { members, ids }: Target, count: number, seed: number): GeneratedRequest[] {
  const { method, operation } = route;
  const shortText = storableText.filter((text) => text !== '' && text.length < 100);
  const id = oneOf(constantFrom(...ids), constantFrom('.', '..', 'null'), shortText);
  return samplesOf(
    tuple(
      id,
      searchOf(operation, shortText),
      credentialsOf(operation, members),
      headersOf(),
      bodyOf(operation),
    ),
    count,
    seed,
  ).map(([name, search, credentials, headers, body]) => {
    const path = `${fillPath(route.path, name)}${search}`.slice(0, 4_000);
    return { method, path, bytes: toBytes(method, path, [...credentials, ...headers], body) };
  });
}

/** Queries of documented and unknown names. */
function searchOf({ parameters = [] }: Operation, text: typeof storableText) {
  const names = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
  return oneOf(
    constantFrom(''),
    tuple(constantFrom('x', ...names), text).map(([name, value]) => `?${name}=${encodeURIComponent(value)}`),
    query.map((search) => `?${search}`),
  );
}

type Headers = readonly (readonly [name: string, value: string])[];

/** Credentials of one member; mostly valid, sometimes incomplete, mixed or wrong. */
function credentialsOf(operation: Operation, members: Target['members']) {
  const valid = constantFrom(...members).map((member): Headers => Object.entries(member));
  if (requiredSchemes(operation).length === 0) return valid;
  const mixed = tuple(constantFrom(...members), constantFrom(...members)).map(
    ([one, other]): Headers => Object.entries({ ...one, Authorization: other['Authorization'] ?? '' }),
  );
  const wrong = headerValue.map(
    (value): Headers => [
      ['API_KEY', value],
      ['Authorization', `Bearer ${value}`],
    ],
  );
  return oneOf(valid, valid, valid, valid, valid, valid, mixed, wrong, constantFrom<Headers>([]));
}

/** Conditional and irrelevant headers. */
function headersOf() {
  const conditions = oneOf<Headers>(
    constantFrom<Headers>([], [], [['If-Match', '"1"']], [['Accept', 'application/problem+json']]),
    headerValue.map((value): Headers => [['Idempotency-Key', value]]),
    headerValue.map((value): Headers => [['If-Match', value]]),
    constantFrom<Headers>([['Accept', 'text/csv']], [['Accept', 'application/x-ndjson']]),
  );
  const isFraming = /^(?:expect|te|range)$/i;
  return tuple(conditions, irrelevantHeaders, integer(0, 9)).map(
    // Most requests are plain, so that most requests reach their handler.
    ([condition, irrelevant, choice]): Headers =>
      choice === 0 ? condition.concat(irrelevant.filter(([name]) => !isFraming.test(name))) : condition,
  );
}

interface Body {
  readonly type: string;
  readonly bytes: Buffer;
}

/** The documented example, the example with changed fields, any JSON, and mutated bytes. */
function bodyOf(operation: Operation) {
  const entity = exampleEntity(operation);
  if (entity === undefined) return constantFrom<Body | undefined>(undefined);
  const body = (text: string | Buffer, type = entity.type): Body => ({ type, bytes: Buffer.from(text) });
  const example = exampleBody(operation);
  const mutated = mutationsOf(entity.text).map((bytes) => body(bytes));
  const type = headerValue.map((value) => body(entity.text, value));
  const valid = constantFrom<Body | undefined>(body(entity.text));
  if (example === undefined) return oneOf<Body | undefined>(valid, mutated, type);
  return oneOf<Body | undefined>(
    valid,
    tuple(constantFrom(...Object.keys(example)), anyJson).map(([field, value]) =>
      body(JSON.stringify({ ...example, [field]: value })),
    ),
    tuple(constantFrom(...Object.keys(example)), anyJson).map(([field, value]) =>
      body(JSON.stringify({ [field]: value })),
    ),
    unknownMembers.map((members) => body(JSON.stringify({ ...example, ...Object.fromEntries(members) }))),
    anyJson.map((value) => body(JSON.stringify(value))),
    mutated,
    type,
  );
}

function toBytes(method: string, path: string, headers: Headers, body: Body | undefined): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Type: ${body.type}`, `Content-Length: ${body.bytes.length}`]),
  ];
  return Buffer.concat([
    Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    ...(body === undefined ? [] : [body.bytes]),
  ]);
}
