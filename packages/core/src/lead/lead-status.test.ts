import { describe, expect, test } from 'vitest';
import { memberRoles } from '../credential/roles.ts';
import { LeadsError } from '../errors.ts';
import { checkTransition, type LeadStatus } from './lead-status.ts';
import { needsReason, transitions } from './lead-transitions.ts';

const statuses: readonly LeadStatus[] = ['OnHold', 'Trashed', 'Paid', 'Approved'];

/** The allowed transitions: from, to, whether a reason is required, whether only owners are allowed. */
const legal = new Map(
  [
    ['OnHold', 'Approved', false, false],
    ['OnHold', 'Trashed', true, false],
    ['Approved', 'Paid', false, false],
    ['Approved', 'OnHold', false, false],
    ['Approved', 'Trashed', true, false],
    ['Trashed', 'OnHold', false, false],
    ['Paid', 'Approved', true, true],
  ].map(([from, to, reason, owner]) => [`${String(from)} ${String(to)}`, { reason, owner }]),
);

function outcome(from: LeadStatus, to: LeadStatus, how: Parameters<typeof checkTransition>[2]) {
  try {
    checkTransition(from, to, how);
    return 'allowed';
  } catch (error) {
    if (!(error instanceof LeadsError)) throw error;
    return error.code;
  }
}

test('the message for a rejected transition names both statuses', () => {
  for (const from of statuses) {
    for (const to of statuses.filter((each) => !legal.has(`${from} ${each}`))) {
      const change = () => checkTransition(from, to, { role: 'owner', reason: 'x' });
      expect(change).toThrow(`A lead cannot go from ${from} to ${to}`);
    }
  }
});

test('a reason is required to Trashed and from Paid only', () => {
  for (const [transition, { reason }] of legal) {
    const [from, to] = transition.split(' ') as [LeadStatus, LeadStatus];
    expect([transition, needsReason(from, to)]).toEqual([transition, reason]);
  }
});

describe('checkTransition', () => {
  for (const from of statuses) {
    for (const to of statuses) {
      test(`returns the expected result for ${from} to ${to}, for each role, with and without a reason`, () => {
        const rule = legal.get(`${from} ${to}`);
        expect(transitions[from].includes(to)).toBe(rule !== undefined);
        for (const role of memberRoles) {
          for (const reason of [undefined, 'because']) {
            const expected =
              rule === undefined
                ? 'conflict'
                : rule.owner === true && role !== 'owner'
                  ? 'forbidden'
                  : rule.reason === true && reason === undefined
                    ? 'reason_required'
                    : 'allowed';
            expect([role, reason, outcome(from, to, { role, reason })]).toEqual([role, reason, expected]);
          }
        }
      });
    }
  }
});
