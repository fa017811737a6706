import { LeadsError } from '@leads/core/errors';
import { type ImportRejection, maxListedRejections } from '@leads/core/lead';
import { codingError } from '@leads/http/server/content-coding';
import { readLongBody } from '@leads/http/server/long-body';
import type { FastifyRequest } from 'fastify';
import type { TransferLimits } from '../../../transfer-limits.ts';
import { verifyTransfer } from '../../../verify-again.ts';

/** Rejects bodies that are compressed or declare a charset other than UTF-8. */
export function rejectEncoded({ headers }: FastifyRequest): void {
  const fault = codingError(headers);
  if (fault !== undefined) throw fault;
  const charset = /;\s*charset="?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new LeadsError('unsupported_media_type', {
      message: 'Unsupported media type: send the body in UTF-8',
      fields: [{ at: 'header', path: 'content-type', reason: 'must declare UTF-8 or no charset' }],
    });
  }
}

/**
 * Imports the body of a request as one transfer of its workspace. It ends if the credentials of the request are revoked.
 *
 * @param record records the import in the audit log. An import that fails after a batch is recorded, too, with
 *   `isComplete` false, because the stored lines remain stored.
 * @param work imports the file. @returns its report.
 * @returns the report with its first rejections.
 */
export async function importBody<Report extends { readonly rejected: number }>(
  transfers: TransferLimits,
  request: FastifyRequest,
  record: (report: Readonly<Report>, isComplete?: false) => Promise<void>,
  work: (
    file: AsyncIterable<Buffer>,
    options: {
      signal: AbortSignal;
      onRejection: (rejection: ImportRejection) => void;
      onProgress: (soFar: Readonly<Report>) => void;
    },
  ) => Promise<Report>,
) {
  const rejections: ImportRejection[] = [];
  const onRejection = (rejection: ImportRejection) => {
    if (rejections.length < maxListedRejections) rejections.push(rejection);
  };
  let soFar: Readonly<Report> | undefined;
  const onProgress = (counts: Readonly<Report>) => {
    soFar = counts;
  };
  const end = transfers.begin('import', request.principal);
  const verification = verifyTransfer(request);
  const signal = AbortSignal.any([transfers.stopping, verification.signal]);
  try {
    const report = await work(readLongBody(request, { signal }), { signal, onRejection, onProgress });
    await record(report);
    const truncated = report.rejected > rejections.length;
    return { success: true as const, ...report, rejections, truncated };
  } catch (error) {
    if (soFar !== undefined) await record(soFar, false);
    throw error;
  } finally {
    verification.end();
    end();
  }
}
