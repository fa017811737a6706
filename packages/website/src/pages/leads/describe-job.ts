import type { LeadJob } from '@leads/core/lead';
import * as texts from '../../texts/index.ts';
import { jobs as jobTexts } from '../../texts/jobs.ts';

const t = texts.leads;

/** Returns what a job does, with its progress, or what it has done. */
export function describeJob({ status, changed, total, state, undoes }: LeadJob): string {
  const name = status && t.statuses[status];
  const isUndo = undoes !== undefined;
  return state === 'running'
    ? jobTexts.progress(name, changed, total, isUndo)
    : jobTexts.ended(name, changed, state, isUndo);
}
