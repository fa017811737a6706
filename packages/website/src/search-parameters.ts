import { readDeliverySearch } from './pages/integrations/delivery-search.ts';
import { readLeadSearch } from './leads/lead-search.ts';
import { readRangeSearch } from './shell/range-search.ts';
import { readStatementSearch } from './pages/statements/statement-search.ts';
import { isUuid } from './parameter-values.ts';

type Given = Record<string, unknown>;

/**
 * Returns a reader for the router. It returns `undefined` for the parameters that `read` drops, because the router keeps a
 * parameter that its reader leaves out.
 */
const only =
  <Search extends object>(read: (given: Given) => Search) =>
  (given: Given): { [Name in keyof Search]: Search[Name] | undefined } => ({
    ...(Object.fromEntries(Object.keys(given).map((name) => [name, undefined])) as Search),
    ...read(given),
  });

/** Returns a reader of parameters that are texts. */
const texts = <Name extends string>(...names: readonly Name[]) =>
  only((given) => {
    const found: { [Key in Name]?: string } = {};
    for (const name of names) {
      const value = given[name];
      if (typeof value === 'string' || typeof value === 'number') found[name] = String(value);
    }
    return found;
  });

const ofUser = only(({ user }): { user?: string } => (isUuid(user) ? { user } : {}));

/** The readers of the parameters of each page. They drop unknown parameters and invalid values. */
export const searches = {
  overview: only(readRangeSearch),
  leads: only(readLeadSearch),
  statements: only(readStatementSearch),
  campaigns: ofUser,
  payments: ofUser,
  deliveries: only(readDeliverySearch),
  developers: texts('tab', 'key', 'status', 'service'),
  profile: texts('tab'),
  signIn: texts('to', 'email'),
  signUp: texts('to', 'email', 'invitation'),
  resetPassword: texts('token'),
  verifyEmail: texts('token'),
};
