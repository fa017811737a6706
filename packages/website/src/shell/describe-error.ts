import { ApiError } from '../api/api-error.ts';
import * as texts from '../texts/index.ts';
import { UserError } from './user-error.ts';

const t = texts.common.errors;

/** An error as a user reads it: what happened, and sentences with the reasons and the next step. */
export interface ErrorDescription {
  readonly title: string;
  readonly sentences: readonly string[];
}

/** Whether an error is a defect of the page, which the operator must know of. */
export const isDefect = (error: unknown) => !(error instanceof ApiError) && !(error instanceof UserError);

/** Describes an error. Rejected input is described by its fields, not by the message of the API. */
export function describeError(error: Error): ErrorDescription {
  if (error instanceof UserError) return { title: error.title, sentences: [error.message] };
  if (!(error instanceof ApiError)) return { title: t.ofPage, sentences: [error.message, t.ofPageStep] };
  const { status, code, fields, message, hasDetail, retryAfterSeconds } = error;
  if (fields.length > 0) return { title: texts.common.correctInput, sentences: fields.map(reasonOf) };
  if (status === 0) return { title: t.noConnection, sentences: [message] };
  if (code === 'forbidden') {
    return { title: t.forbidden, sentences: [...(hasDetail ? [message] : []), t.askOwner] };
  }
  if (status === 404 && code === 'not_found') return { title: t.gone, sentences: [t.goneStep] };
  if (status === 401) return { title: t.notSignedIn, sentences: [message] };
  if (status === 429) return { title: t.tooMany, sentences: [message, t.tooManyStep(retryAfterSeconds)] };
  if (status >= 500) return { title: t.ofServer, sentences: [message, t.ofServerStep] };
  return { title: t.rejected, sentences: [message] };
}

/** Returns a sentence for a rejected field, such as "Phone must not be empty.". */
function reasonOf({ field, reason }: ApiError['fields'][number]): string {
  return sentence(`${wordsOf(field)} ${reason}`.trim());
}

/** Returns the words of the name of a field: "allowed origins" for `allowedOrigins`. */
const wordsOf = (field: string) => field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
