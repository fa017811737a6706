import type { DeliveryState } from '@leads/core/delivery';
import type { DeliveryFilter } from '../../api/endpoints.ts';
import { isTime, isUuid, termOf } from '../../parameter-values.ts';

const states: Readonly<Record<DeliveryState, true>> = {
  waiting: true,
  delivered: true,
  failed: true,
  skipped: true,
  superseded: true,
};

export const isStatusCode = (text: string) => /^[1-5]\d\d$/.test(text);

const isState = (value: unknown): value is DeliveryState =>
  typeof value === 'string' && Object.hasOwn(states, value);
const isMoment = (value: unknown): value is string =>
  typeof value === 'string' && value.includes('T') && isTime(value);

/** Parses the filters of the log of deliveries from the address and drops invalid values. */
export function readDeliverySearch(search: Record<string, unknown>): DeliveryFilter {
  const { state, leadId, from, to } = search;
  const statusCode = termOf(search['statusCode']);
  return {
    ...(isState(state) && { state }),
    ...(statusCode !== undefined && isStatusCode(statusCode) && { statusCode }),
    ...(isUuid(leadId) && { leadId }),
    ...(isMoment(from) && { from }),
    ...(isMoment(to) && { to }),
  };
}
