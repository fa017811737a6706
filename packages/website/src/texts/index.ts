import { account } from './account.ts';
import { common } from './common.ts';
import { leads } from './leads.ts';

/** Everything that the website says, in one place. */
export const texts = { account, common, leads } as const;
