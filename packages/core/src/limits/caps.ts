import { LeadsError } from '../errors.ts';

/** The most objects of each kind, and the message beyond it. */
export const caps = {
  apiKeys: {
    max: 1_000,
    message:
      'A workspace may have 1,000 active API keys and create 1,000 a day: revoke keys that are not used',
  },
  accessTokens: {
    max: 1_000,
    message:
      'A workspace may have 1,000 active access tokens and create 1,000 a day: revoke tokens that are not used',
  },
  publisherApiKeys: {
    max: 100,
    message: 'A publisher may have 100 active API keys and create 100 a day: revoke keys that are not used',
  },
  publisherAccessTokens: {
    max: 100,
    message:
      'A publisher may have 100 active access tokens and create 100 a day: revoke tokens that are not used',
  },
  campaigns: { max: 5_000, message: 'A workspace may have 5,000 campaigns' },
  publisherPayouts: {
    max: 1_000,
    message: 'A campaign may have payouts for 1,000 publishers: remove some of them',
  },
  landingPages: { max: 20_000, message: 'A workspace may have 20,000 landing pages' },
  dismissedLandingPages: { max: 20_000, message: 'A workspace may have 20,000 dismissed landing pages' },
  // The account library reads 100 invitations at most to count them.
  invitations: { max: 100, message: 'A workspace may have 100 pending invitations: cancel some of them' },
  webhooks: { max: 20, message: 'A workspace may have 20 webhooks' },
  workspacePostbacks: { max: 5, message: 'A workspace may have 5 postbacks of its own' },
  userPostbacks: { max: 5, message: 'A user may have 5 postbacks in a workspace' },
  runningJobs: { max: 10, message: 'A workspace may have 10 running jobs: wait for one, or cancel one' },
  runningPayments: { max: 10, message: 'A workspace may have 10 payments in progress: wait until one ends' },
  sharedViews: { max: 100, message: 'A workspace may have 100 shared views: delete some of them' },
  userViews: { max: 100, message: 'A user may have 100 views in a workspace: delete some of them' },
  ownedWorkspaces: { max: 50, message: 'A user may own 50 workspaces' },
} as const;

/**
 * Checks that there is room for one more object.
 *
 * @param count the present number of objects.
 * @throws LeadsError `limit_reached`
 */
export function requireRoom(kind: keyof typeof caps, count: number): void {
  const { max, message } = caps[kind];
  if (count >= max) throw new LeadsError('limit_reached', { message });
}
