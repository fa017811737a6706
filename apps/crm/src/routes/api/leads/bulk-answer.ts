import type { ChangeResult, StatusChangeAnswer } from '@leads/core/lead';

/** Returns the response to a change of many leads. @param changed what the result of each changed lead also shows. */
export function bulkAnswer(
  outcomes: readonly ChangeResult[],
  changed: Pick<StatusChangeAnswer['results'][number], 'status'> = {},
): StatusChangeAnswer {
  const results = outcomes.map((outcome) =>
    'error' in outcome
      ? { id: outcome.id, success: false, error: outcome.error.kind, message: outcome.error.message }
      : { id: outcome.id, success: true, ...changed, version: outcome.version },
  );
  const count = results.filter(({ success }) => success).length;
  return { success: true, changed: count, refused: results.length - count, results };
}
