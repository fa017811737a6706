import { type Static, Type } from 'typebox';
import { websitePages } from '../files/built-website.ts';

/** An error of a browser, as the website sends it. */
export const ClientError = Type.Object(
  {
    message: Type.String({ maxLength: 1000 }),
    name: Type.Optional(Type.String({ maxLength: 255, description: 'The name of its class.' })),
    stack: Type.Optional(Type.String({ maxLength: 8000 })),
    page: Type.Optional(Type.String({ maxLength: 255, description: 'The page, without its query.' })),
  },
  { additionalProperties: false },
);
type ClientError = Static<typeof ClientError>;

/** What the log holds of an error of a browser. */
export interface LoggedClientError {
  /** The class of the error; `unknown` for a class that is not listed here. */
  readonly name: string;
  /** The path of the page with the names of its parameters; `unknown` for a path that is no page. */
  readonly page: string;
  /** Positions in the website's scripts, the innermost call first: `index-gNgI83Hh.js:1:23456`. */
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
  // The website's own, and those of the browser's APIs that it calls.
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
 * Describes an error of a browser for the log. Anyone can send such a report, signed in or not, and its texts can
 * hold personal data: only what is known to the service beforehand is passed on, and positions in its own scripts.
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
