export {
  AccountId,
  AddressConfirmed,
  Features,
  InvitationView,
  Me,
  OwnWorkspace,
  PendingInvitationView,
  SessionView,
  UserName,
} from './account.schema.ts';
export type { AccountStore, InvitationNotice, PendingInvitation, SignedInBrowser } from './account-store.ts';
export {
  type AccountOptions,
  type Accounts,
  addressHeader,
  type PasswordHash,
  type SignedIn,
} from './accounts.ts';
export { createAccounts } from './create-accounts.ts';
export type { Mail, SendMail } from './mail.ts';
export { isRecentSignIn } from './recent-sign-in.ts';
export { createThrottle } from './throttle.ts';
