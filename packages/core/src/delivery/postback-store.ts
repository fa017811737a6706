import type { LeadStatus } from '../lead/lead-status.ts';
import type { PostbackTemplates } from './postback-request.ts';
import type { EndpointScope, EndpointState } from './endpoint.ts';
import type { WebhookStore } from './webhook-store.ts';

interface Settings extends PostbackTemplates {
  readonly description?: string | undefined;
  readonly statuses: readonly LeadStatus[];
  readonly includesImports: boolean;
  readonly sendsWithoutS1: boolean;
  readonly answerContains?: string | undefined;
}

/** A stored postback. */
export interface Postback extends Settings, EndpointState {
  /** The user whose leads are sent. Absent for a postback of the workspace. */
  readonly userId?: string | undefined;
  readonly campaignCode?: string | undefined;
}

/** A postback to store. */
interface PostbackToStore extends Settings {
  readonly id: string;
  readonly userId?: string | undefined;
  readonly campaignId?: string | undefined;
}

/** All settings of a changed postback. */
interface PostbackUpdate extends Settings {
  /** `null` for all campaigns. Absent, it stays as it is. */
  readonly campaignId?: string | null | undefined;
  /** `true` also resets the failures, if it was disabled. Absent, it stays as it is. */
  readonly enabled?: boolean | undefined;
}

/**
 * The postbacks of workspaces and their members. Ids are any text. Methods throw LeadsError `unavailable` if the database
 * is unavailable.
 */
export interface PostbackStore {
  /** Returns the ids of campaigns by code. Unknown codes are left out. */
  findCampaigns: WebhookStore['findCampaigns'];
  /** @throws LeadsError `limit_reached` */
  create(workspaceId: string, postback: PostbackToStore): Promise<Postback>;
  /** Lists the visible postbacks, oldest first. */
  list(scope: EndpointScope): Promise<Postback[]>;
  find(scope: EndpointScope, id: string): Promise<Postback | undefined>;
  /**
   * Changes a postback. No other change of it comes between the read and the write.
   *
   * @param decide returns the changed settings. Its errors are thrown.
   * @returns undefined if there is no such visible postback.
   */
  update(
    scope: EndpointScope,
    id: string,
    decide: (postback: Postback) => PostbackUpdate,
  ): Promise<Postback | undefined>;
  /** Deletes a postback and, later, its deliveries. Returns the deleted postback. */
  remove(scope: EndpointScope, id: string): Promise<Postback | undefined>;
}
