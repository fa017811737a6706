import type { ImportAnswer, StatusImportAnswer } from '@leads/core/lead';
import * as texts from '../texts/index.ts';
import { ApiError } from './api-error.ts';
import { pageHeaders, readError, rejectPage, timeLimitMs } from './client.ts';
import { recordNoAnswer } from './connection.ts';

/** A CSV file to send. */
export interface Upload {
  readonly body: Blob;
  /** Called with the number of bytes that were sent. */
  readonly onSent: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** Imports the leads of a CSV file. @param ignore names of columns to skip. @throws ApiError */
export function importLeads({
  campaignCode,
  ignore,
  ...upload
}: Upload & {
  readonly campaignCode: string | undefined;
  readonly ignore: readonly string[];
  readonly idempotencyKey: string;
}): Promise<ImportAnswer> {
  const query = new URLSearchParams(ignore.map((name) => ['ignore', name]));
  if (campaignCode !== undefined) query.set('campaignCode', campaignCode);
  return uploadCsv(`/console/order/leads/import?${query.toString()}`, upload);
}

/** Changes the statuses of the leads of a CSV file. @throws ApiError */
export function importStatuses(upload: Upload & { readonly idempotencyKey: string }) {
  return uploadCsv<StatusImportAnswer>('/console/order/leads/status/import', upload);
}

async function readUpload<Answer>(path: string, response: Response): Promise<Answer> {
  rejectPage(response);
  if (!response.ok) throw await readError(path, response);
  return (await response.json()) as Answer;
}

/**
 * Uploads a CSV file without holding it in memory. It uses XMLHttpRequest because `fetch` reports no upload progress.
 *
 * @throws ApiError
 */
function uploadCsv<Answer>(
  path: string,
  { body, idempotencyKey, onSent, signal }: Upload & { readonly idempotencyKey: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/api${path}`);
    const headers = { ...pageHeaders(), 'content-type': 'text/csv', 'idempotency-key': idempotencyKey };
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    // The time limit is for each part of the upload. The import itself can take longer, and can be canceled.
    let isStalled = false;
    const stall = () => {
      isStalled = true;
      recordNoAnswer();
      request.abort();
    };
    let limit = setTimeout(stall, timeLimitMs);
    request.upload.addEventListener('progress', ({ loaded }) => {
      clearTimeout(limit);
      limit = setTimeout(stall, timeLimitMs);
      onSent(loaded);
    });
    request.upload.addEventListener('load', () => clearTimeout(limit));
    request.addEventListener('loadend', () => clearTimeout(limit));
    request.addEventListener('load', () => {
      const { status, responseText } = request;
      const names = ['content-type', 'retry-after'];
      const shown = names.map((name) => [name, request.getResponseHeader(name) ?? '']);
      resolve(readUpload(path, new Response(responseText, { status, headers: Object.fromEntries(shown) })));
    });
    request.addEventListener('error', () => {
      recordNoAnswer();
      reject(new ApiError(0, texts.common.unreachable));
    });
    request.addEventListener('abort', () =>
      reject(
        isStalled
          ? new ApiError(0, texts.common.noAnswer, [], 'no_answer')
          : new DOMException('Cancelled', 'AbortError'),
      ),
    );
    signal.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}
