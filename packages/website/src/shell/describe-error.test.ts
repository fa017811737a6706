import { expect, test } from 'vitest';
import { ApiError } from '../api/api-error.ts';
import { describeError, isDefect } from './describe-error.ts';
import { UserError } from './user-error.ts';

test.for<[error: Error, title: string, sentences: string[]]>([
  [
    new ApiError(400, 'Invalid input data', [{ field: 'allowedOrigins', reason: 'must not be empty' }]),
    'Correct these entries',
    ['Allowed origins must not be empty.'],
  ],
  [new ApiError(0, 'Check your connection.'), 'No answer from the server', ['Check your connection.']],
  [
    new ApiError(403, 'This credential may not do that', [], 'forbidden'),
    'You have no permission',
    ['Ask an owner of the workspace for the permission.'],
  ],
  [
    new ApiError(403, 'Only an owner may take a lead from Paid to Approved', [], 'forbidden', true),
    'You have no permission',
    [
      'Only an owner may take a lead from Paid to Approved',
      'Ask an owner of the workspace for the permission.',
    ],
  ],
  [
    new ApiError(403, 'This credential may not do that', [], 'email_unverified'),
    'This is not possible',
    ['This credential may not do that'],
  ],
  [
    new ApiError(401, 'The email address or the password is wrong', [], 'unauthenticated', true),
    'The sign-in failed',
    ['The email address or the password is wrong'],
  ],
  [
    new ApiError(404, 'Not found', [], 'not_found'),
    'Not found',
    ['It was deleted, or you have no access to it. Reload the page.'],
  ],
  [new ApiError(409, 'The name is in use'), 'This is not possible', ['The name is in use']],
  [
    new ApiError(429, 'The rate limit is exceeded'),
    'Too many requests',
    ['The rate limit is exceeded', 'Wait 1 minute and try again.'],
  ],
  [
    new ApiError(429, 'The rate limit is exceeded', [], 'too_many_requests', true, 5),
    'Too many requests',
    ['The rate limit is exceeded', 'Wait 5 seconds and try again.'],
  ],
  [
    new ApiError(429, 'Too many attempts', [], 'too_many_requests', true, 841),
    'Too many requests',
    ['Too many attempts', 'Wait 15 minutes and try again.'],
  ],
  [
    new ApiError(500, 'An unexpected error occurred'),
    'The server has an error',
    ['An unexpected error occurred', 'Try again. If the error persists, tell the operator of this service.'],
  ],
  [
    new TypeError('x is not a function'),
    'The page has an error',
    ['x is not a function', 'Reload the page. The error was reported to the operator of this service.'],
  ],
  [
    new UserError('This file cannot be imported', 'The file has no header line.'),
    'This file cannot be imported',
    ['The file has no header line.'],
  ],
])('%s is shown as "%s" with the next step', ([error, title, sentences]) => {
  expect(describeError(error)).toEqual({ title, sentences });
  expect(isDefect(error)).toBe(error instanceof TypeError);
});
