import { account } from './account.ts';
import { common } from './common.ts';

/** Everything that the website says, in one place. */
export const texts = { account, common } as const;
