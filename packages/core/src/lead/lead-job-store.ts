import type { MemberRole } from '../credential/roles.ts';
import type { LeadJob } from './lead-job.schema.ts';
import type { LeadStatus } from './lead-status.ts';
import type { LeadPosition } from './lead-store.ts';

/** A job to store. */
type JobToStart = Pick<
  LeadJob,
  'id' | 'action' | 'filters' | 'status' | 'reason' | 'assigneeId' | 'userId'
> & {
  readonly workspaceId: string;
};

/** A job to store that undoes another one. */
type UndoToStart = Pick<LeadJob, 'id' | 'userId'> & { readonly workspaceId: string; readonly undoes: string };

/** A lead that a job is about to change, and the status in which the job found it. */
export interface PlannedLead {
  readonly id: string;
  readonly from: LeadStatus;
}

/** A job that an instance works on until its lease ends. */
export interface ClaimedJob extends JobToStart {
  readonly leaseId: string;
  readonly createdAt: Date;
  readonly total?: number | undefined;
  /** The last lead that the job has found, in the order of creation. */
  readonly after?: LeadPosition | undefined;
  /** The job that this job undoes. It goes by the ids of leads. */
  readonly undoes?: string | undefined;
  /** The last lead that a job which undoes another one has changed or refused. */
  readonly afterId?: string | undefined;
  /** The leads that the job has found and not counted yet. Some of them may be changed already. */
  readonly planned?: readonly PlannedLead[] | undefined;
  /** The present role of the user. Absent if the user has left the workspace. */
  readonly role?: MemberRole | undefined;
}

/** The results of a batch. */
export interface JobProgress {
  /** The total and the last lead of a job that undoes another one. Other jobs store both before their changes. */
  readonly total?: number;
  readonly afterId?: string | undefined;
  readonly changed: number;
  readonly refusals: readonly { readonly id: string; readonly message: string }[];
}

/** A store of jobs. Methods throw LeadsError `unavailable` without the database. */
export interface LeadJobStore {
  /**
   * Stores a job. A job with the same id stays as it is.
   *
   * @returns the stored job. @throws LeadsError `limit_reached` if too many jobs of the workspace run.
   */
  start(job: JobToStart): Promise<LeadJob>;
  /**
   * Stores a job that undoes another job of the workspace. A job is undone once: while it is undone and afterwards, the
   * same undo is returned. It can be undone again if the undo was cancelled or failed.
   *
   * @returns the stored job. @throws LeadsError `limit_reached` if too many jobs of the workspace run; `not_found`.
   */
  startUndo(job: UndoToStart): Promise<LeadJob>;
  /** Lists the newest jobs of a workspace. */
  list(workspaceId: string, limit: number): Promise<LeadJob[]>;
  find(workspaceId: string, id: string): Promise<LeadJob | undefined>;
  /** Cancels a job that runs. It ends without personal data, as by `finish`. @returns the job; undefined if the workspace has no such job. */
  cancel(workspaceId: string, id: string): Promise<LeadJob | undefined>;

  /**
   * Claims the running job that has waited for the longest time. Only the oldest job of a workspace runs, so a workspace
   * with many jobs takes no more turns than another one.
   *
   * @param leaseMs how long no other instance claims the job.
   */
  claim(leaseMs: number): Promise<ClaimedJob | undefined>;
  /** Stores the leads that the job changes next, and the position behind them. @returns false if the lease has ended. */
  plan(
    job: ClaimedJob,
    leads: readonly PlannedLead[],
    after: LeadPosition,
    total: number | undefined,
  ): Promise<boolean>;
  /** Adds the results of the planned leads, and lets other instances claim the job. */
  record(job: ClaimedJob, progress: JobProgress): Promise<void>;
  /** Ends the lease. No instance claims the job before the delay has passed. */
  delay(job: ClaimedJob, delayMs: number): Promise<void>;
  finish(job: ClaimedJob, state: 'done' | 'failed', total: number | undefined): Promise<void>;
  /** Deletes the jobs of all workspaces that ended more than 30 days ago. */
  deleteExpired(): Promise<void>;
}
