import { type LeadStatus, leadStatuses } from '../lead/lead-transitions.ts';

/** The macros with personal data. Like `{extra.<field>}`, only a postback of the workspace may use them. */
export const personalMacros = ['name', 'phone', 'email', 'address', 'ip'] as const;

/** The macros of postbacks. Beside them, `{extra.<field>}` is a field of the lead's `extra`. */
export const postbackMacros = [
  'order_id',
  's1',
  'clickid',
  'status',
  'payout',
  'currency',
  'campaign',
  'lp_name',
  'reason',
  'country',
  'time',
  'event_id',
  ...personalMacros,
] as const;
type PostbackMacro = (typeof postbackMacros)[number];

/** The values of macros. An absent value is rendered as an empty text. `clickid` has the value of `s1`. */
export type PostbackValues = Readonly<
  Partial<Record<Exclude<PostbackMacro, 'clickid' | 'status'>, string>> & {
    status?: LeadStatus;
    extra?: Readonly<Record<string, unknown>>;
  }
>;

/** A parsed template of a URL or of a body. */
export interface PostbackTemplate {
  /** Returns the text with the values of the macros. It never fails. */
  render(values: PostbackValues): string;
  /** The macros of the template that can hold personal data, each once. Those of `extra` have the form `extra.<field>`. */
  readonly personalMacros: readonly string[];
}

/** A template that cannot be used. The message is the rest of a sentence that begins with the name of the field. */
export class PostbackTemplateError extends Error {
  override readonly name = 'PostbackTemplateError';
}

/** A part of a template: text, or a macro with the function that reads its value. */
type Part = string | Macro;

interface Macro {
  readonly name: string;
  readonly valueOf: (values: PostbackValues) => string;
}

type Encode = (value: string) => string;

const extraPrefix = 'extra.';
const knownMacros = [...postbackMacros.map((name) => `{${name}}`), `{${extraPrefix}<field>}`].join(', ');

/**
 * Parses the template of a postback's URL, for example `https://t.example/p?cid={s1}&status={status:Approved=sale}`.
 *
 * Values are percent-encoded, so that they cannot add a parameter or a path segment. A path segment that values turn
 * into `.` or `..` is rendered as if the values were absent, because URL parsers remove such segments (URL Standard,
 * 4.1). Check the rendered URL with the rules for destinations before each request.
 *
 * @throws PostbackTemplateError for an unknown macro, a mapping of an unknown status, a macro before the path, or a URL
 *   that is invalid or has a fragment.
 */
export function parsePostbackTemplate(url: string): PostbackTemplate {
  // oxlint-disable-next-line no-control-regex -- URL parsers remove some of these characters from any place.
  if (/[\u0000-\u0020\u007f#]/.test(url)) {
    throw new PostbackTemplateError('must not contain white space or a fragment (#)');
  }
  const parts = parseParts(url);
  const origin = /^https?:\/\/[^/?\\{}]+/i.exec(url)?.[0];
  if (origin === undefined) {
    throw new PostbackTemplateError('must begin with a scheme and a host, without macros');
  }
  if (!/^$|^[/?]/.test(url.slice(origin.length))) {
    throw new PostbackTemplateError('must not have a macro in its host or port');
  }
  const withoutValues = renderParts(parts, {}, encodeURIComponent);
  if (!URL.canParse(withoutValues)) throw new PostbackTemplateError('must be a URL');
  const render = (values: PostbackValues) =>
    withoutDotSegments(renderParts(parts, values, percentEncode), withoutValues);
  return { render, personalMacros: personalMacrosOf(parts) };
}

/**
 * Parses the template of a body in the format `application/x-www-form-urlencoded`, for example `cid={s1}&sum={payout}`.
 * Values are percent-encoded.
 *
 * @throws PostbackTemplateError for an unknown macro or a mapping of an unknown status.
 */
export function parseFormTemplate(body: string): PostbackTemplate {
  const parts = parseParts(body);
  return {
    render: (values) => renderParts(parts, values, percentEncode),
    personalMacros: personalMacrosOf(parts),
  };
}

/**
 * Parses the template of a JSON body, for example `{"cid":"{s1}","status":"{status}"}`. Macros are inside JSON strings.
 * The rendered body is compact JSON of the same structure, whatever the values are.
 *
 * @throws PostbackTemplateError for a text that is not JSON, an unknown macro, a macro in a member's name, or a mapping of
 *   an unknown status.
 */
export function parseJsonTemplate(body: string): PostbackTemplate {
  const { renderValue, parts } = parseJsonValue(parseJson(body));
  return {
    render: (values) => JSON.stringify(renderValue(values)),
    personalMacros: personalMacrosOf(parts),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new PostbackTemplateError('must be JSON', { cause });
  }
}

interface JsonTemplate {
  readonly renderValue: (values: PostbackValues) => unknown;
  readonly parts: readonly Part[];
}

function parseJsonValue(value: unknown): JsonTemplate {
  if (typeof value === 'string') {
    const parts = parseParts(value);
    return { renderValue: (values) => renderParts(parts, values, (text) => text), parts };
  }
  if (typeof value !== 'object' || value === null) return { renderValue: () => value, parts: [] };
  if (Array.isArray(value)) {
    const items = value.map(parseJsonValue);
    return {
      renderValue: (values) => items.map(({ renderValue }) => renderValue(values)),
      parts: items.flatMap(({ parts }) => parts),
    };
  }
  const members = Object.entries(value).map(([name, member]) => {
    if (/[{}]/.test(name)) throw new PostbackTemplateError("must not have a macro in a member's name");
    return [name, parseJsonValue(member)] as const;
  });
  return {
    renderValue: (values) =>
      Object.fromEntries(members.map(([name, { renderValue }]) => [name, renderValue(values)])),
    parts: members.flatMap(([, { parts }]) => parts),
  };
}

function parseParts(text: string): Part[] {
  // The parts with odd indexes are macros.
  return text.split(/\{([^{}]*)\}/).flatMap((part, i): Part[] => {
    if (i % 2 === 1) return [parseMacro(part)];
    if (/[{}]/.test(part)) throw new PostbackTemplateError('must close each brace of a macro');
    return part === '' ? [] : [part];
  });
}

function parseMacro(text: string): Macro {
  const colon = text.indexOf(':');
  const name = colon === -1 ? text : text.slice(0, colon);
  if (name === 'status') {
    const mapping = colon === -1 ? new Map<string, string>() : parseMapping(text.slice(colon + 1));
    return { name, valueOf: ({ status = '' }) => mapping.get(status) ?? status };
  }
  if (text.startsWith(extraPrefix) && text.length > extraPrefix.length) {
    const field = text.slice(extraPrefix.length);
    return {
      name: text,
      valueOf: ({ extra = {} }) => (Object.hasOwn(extra, field) ? toText(extra[field]) : ''),
    };
  }
  const known = postbackMacros.find((macro) => macro === text);
  if (known === undefined || known === 'status') {
    throw new PostbackTemplateError(`has the unknown macro {${text}}; the known macros are ${knownMacros}`);
  }
  const key = known === 'clickid' ? 's1' : known;
  return { name: known, valueOf: (values) => values[key] ?? '' };
}

/** Parses `Approved=sale,Trashed=rejected`. A status without a mapping keeps its name. */
function parseMapping(text: string): Map<string, string> {
  const mapping = new Map<string, string>();
  for (const entry of text.split(',')) {
    const [status = '', value, ...others] = entry.split('=');
    const isKnown = leadStatuses.some((known) => known === status);
    if (!isKnown || value === undefined || others.length > 0 || mapping.has(status)) {
      throw new PostbackTemplateError(
        `must map each status once, such as {status:Approved=sale,Trashed=rejected}; the statuses are ${leadStatuses.join(', ')}`,
      );
    }
    mapping.set(status, value);
  }
  return mapping;
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function renderParts(parts: readonly Part[], values: PostbackValues, encode: Encode): string {
  return parts.map((part) => (typeof part === 'string' ? part : encode(part.valueOf(values)))).join('');
}

/** Percent-encodes all characters but the unreserved ones (RFC 3986, 2.3). A lone surrogate becomes U+FFFD. */
function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Replaces the segments of a path that values have turned into dot segments by their text without values. */
function withoutDotSegments(url: string, withoutValues: string): string {
  const [path = '', ...query] = url.split('?');
  const [emptyPath = ''] = withoutValues.split('?');
  const emptySegments = emptyPath.split('/');
  const segments = path
    .split('/')
    .map((segment, i) => (/^(\.|%2e){1,2}$/i.test(segment) ? (emptySegments[i] ?? '') : segment));
  return [segments.join('/'), ...query].join('?');
}

function personalMacrosOf(parts: readonly Part[]): string[] {
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.name));
  return [...new Set(names.filter(isPersonal))];
}

/** A field of `extra` can hold anything that a form has sent, personal data included. */
function isPersonal(name: string): boolean {
  return name.startsWith(extraPrefix) || personalMacros.some((personal) => personal === name);
}
