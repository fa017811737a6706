import { type Static, Type } from 'typebox';
import { websitePages } from '../files/built-website.ts';

/** A browser error, as the website sends it. */
export const ClientError = Type.Object(
  {
    /** Ignored. Pages of the release before send it. */
    message: Type.Optional(Type.String({ maxLength: 1000 })),
    name: Type.Optional(Type.String({ maxLength: 255, description: 'The name of the error class.' })),
    stack: Type.Optional(Type.String({ maxLength: 8000 })),
    page: Type.Optional(
      Type.String({ maxLength: 255, description: 'The path of the page, without the query.' }),
    ),
  },
  { additionalProperties: false },
);
type ClientError = Static<typeof ClientError>;

/** The fields of a browser error that are logged. */
export interface LoggedClientError {
  /** The class of the error; `unknown` for a class that is not listed here. */
  readonly name: string;
  /** The path of the page with the names of its parameters; `unknown` if no page has the path. */
  readonly page: string;
  /** Positions in the website's scripts, innermost call first: `index-gNgI83Hh.js:1:23456`. */
  readonly at: readonly string[];
}

const knownNames: ReadonlySet<string> = new Set([
  'Error',
  'AggregateError',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
  // The website's own error class, and the errors of the browser APIs that it calls.
  'ApiError',
  'AbortError',
  'DataCloneError',
  'NetworkError',
  'NotAllowedError',
  'NotFoundError',
  'QuotaExceededError',
  'SecurityError',
]);

const maxPositions = 10;
const position = /\/assets\/([\w.-]+):(\d{1,7}):(\d{1,7})(?!\d)/g;
const pagePatterns = websitePages.map(
  (page) => [page, new RegExp(`^${page.replaceAll(/:\w+/g, '[^/]+')}$`)] as const,
);

/**
 * Returns the fields of a browser error that may be logged. The report is untrusted and can contain personal data: the
 * route requires no session. Therefore only known class names, known pages and positions in own scripts are returned.
 *
 * @param scripts the names of the website's scripts.
 */
export function describeClientError(
  { name, stack = '', page = '' }: ClientError,
  scripts: ReadonlySet<string>,
): LoggedClientError {
  // Chromium begins the stack with the class. Firefox and Safari do not.
  const named = name ?? /^\w+/.exec(stack)?.[0] ?? '';
  const at = Array.from(stack.matchAll(position), ([, script = '', line, column]) => ({
    script,
    text: `${script}:${line}:${column}`,
  }));
  return {
    name: knownNames.has(named) ? named : 'unknown',
    page: pagePatterns.find(([, pattern]) => pattern.test(page))?.[0] ?? 'unknown',
    at: at
      .filter(({ script }) => scripts.has(script))
      .slice(0, maxPositions)
      .map(({ text }) => text),
  };
}
