import { type MemberRole, may } from '@leads/core/credential/roles';
import type { SavedView } from '@leads/core/lead';
import { leads as t } from '../texts/leads.ts';

/** A view of the lead list: a saved one, or a built-in one. */
export type ListView = Pick<SavedView, 'id' | 'name' | 'filters' | 'sort' | 'columns' | 'widths'>;

const columns: ListView['columns'] = ['callbackAt', 'name', 'phone', 'status', 'campaign', 'assignee'];

/** The due call-backs of the workspace, the earliest first. */
export const dueCallbacks = {
  id: 'callbacks-due',
  name: t.callbacksDue,
  filters: { callbackDue: 'true' },
  sort: 'callbackAt',
  columns,
} as const satisfies ListView;

/** The due call-backs of the leads that are assigned to the user, the earliest first. */
export const myDueCallbacks = {
  ...dueCallbacks,
  id: 'my-callbacks-due',
  name: t.myCallbacksDue,
  filters: { assignee: 'me', ...dueCallbacks.filters },
} as const satisfies ListView;

/** Returns the views that each member of a role has without saving them. Publishers do not see call-backs. */
export const builtInViewsOf = (role: MemberRole): readonly ListView[] =>
  may(role, 'readInternals') ? [dueCallbacks, myDueCallbacks] : [];
