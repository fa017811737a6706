import { describe, expect, test } from 'vitest';
import { leadStatuses } from '../lead/lead-transitions.ts';
import { postbackPresets } from './postback-presets.ts';
import { parsePostbackTemplate } from './postback-template.ts';

/** The path, the parameters and, if the tracker has fixed ones, the statuses of its documentation. */
const documented: Record<
  string,
  { path: string; required: string; parameters: string[]; statuses?: string[] }
> = {
  keitaro: {
    path: '/KEY/postback',
    required: 'subid',
    parameters: ['subid', 'tid', 'payout', 'revenue', 'cost', 'status', 'currency', 'return'],
    statuses: ['lead', 'sale', 'rejected', 'rebill'],
  },
  binom: {
    path: '/click.php',
    required: 'cnv_id',
    parameters: ['cnv_id', 'payout', 'cnv_status', 'cnv_status2', 'cnv_currency', 'to_offer'],
  },
  voluum: {
    path: '/postback',
    required: 'cid',
    parameters: ['cid', 'payout', 'txid', 'currency', 'et', 'param1', 'param2', 'param3', 'param4', 'param5'],
  },
  altercpa: {
    path: '/api/tracker/postback.json',
    required: 'click',
    parameters: ['id', 'click', 'flow', 'uid', 'status', 'goal', 'price', 'currency', 'convert', 'comment'],
    statuses: ['new', 'hold', 'approve', 'cancel', 'trash'],
  },
  affise: {
    path: '/postback',
    required: 'clickid',
    parameters: ['clickid', 'action_id', 'goal', 'sum', 'ip', 'status', 'referrer', 'comment', 'secure'],
    statuses: ['1', '2', '3', '5'],
  },
};

test('there is a preset for each of the five trackers', () => {
  expect(postbackPresets.map(({ id }) => id)).toEqual(Object.keys(documented));
});

describe.each(postbackPresets)('the preset for $name', ({ id, url, statuses, documentation }) => {
  const {
    path,
    required,
    parameters,
    statuses: known,
  } = documented[id] ?? { path: '', required: '', parameters: [] };
  const template = parsePostbackTemplate(url);
  const rendered = leadStatuses.map(
    (status) =>
      new URL(
        template.render({ s1: 'click-1', order_id: 'order-1', payout: '9.90', currency: 'EUR', status }),
      ),
  );

  test('uses the documented path and parameters only, and sends the click id', () => {
    for (const { pathname, searchParams } of rendered) {
      expect(pathname).toBe(path);
      expect(parameters).toEqual(expect.arrayContaining([...searchParams.keys()]));
      expect(searchParams.get(required)).toBe('click-1');
      expect([...searchParams.values()]).toContain('9.90');
    }
  });

  test('sends the statuses of the tracker', () => {
    expect(statuses).toContain('Approved');
    if (known === undefined) return;
    for (const { searchParams } of rendered) expect(known).toContain(searchParams.get('status'));
    expect(new Set(rendered.map(({ searchParams }) => searchParams.get('status'))).size).toBe(3);
  });

  test('has no personal macro, and names a page of documentation', () => {
    expect(template.personalMacros).toEqual([]);
    expect(documentation).toMatch(/^https:\/\//);
  });
});
