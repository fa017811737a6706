import { useMediaQuery } from '@mantine/hooks';
import { type MemberRole, may } from '@leads/core/credential/roles';
import { type LeadColumn, leadColumns } from '@leads/core/lead/view-columns';
import { useMemo, useState } from 'react';

/** The columns of the list in their order, and the widths that the user has set, in pixels. */
export interface Columns {
  readonly names: readonly LeadColumn[];
  readonly widths: { readonly [Name in LeadColumn]?: number | undefined };
}

export const maxColumnWidth = 960;
export const minColumnWidth = 48;

/** The minimum width of a column in pixels, and its share of the free width. */
const sizes: Readonly<Record<LeadColumn, readonly [minimum: number, share: number]>> = {
  createdAt: [116, 0],
  updatedAt: [116, 0],
  name: [120, 2],
  phone: [146, 1.3],
  status: [112, 0],
  campaign: [110, 1.4],
  user: [110, 1.2],
  assignee: [110, 1.2],
  payout: [104, 0],
  approveAt: [116, 0],
  callbackAt: [116, 0],
  s1: [120, 1.2],
  lpName: [120, 1.2],
  source: [76, 0],
  email: [140, 1.4],
  city: [90, 1],
  country: [80, 1],
  region: [90, 1],
  state: [80, 1],
  address: [140, 1.6],
  ip: [120, 0],
  id: [116, 0],
};

const usual: Columns = {
  names: ['createdAt', 'name', 'phone', 'status', 'campaign', 'country', 'id'],
  widths: {},
};
/** The usual columns where the window is too narrow for all of them. */
const fewer: Columns = { ...usual, names: usual.names.slice(0, 5) };

/** The columns of the checkbox, and the padding and gaps of a row. They equal those of the style sheet. */
const tickWidth = 40;
const gap = 12;

/**
 * Returns the template of the grid, and the width below which a row scrolls horizontally.
 *
 * @param scale the factor of the widths that the user has not set.
 */
export function layoutOf({ names, widths }: Columns, scale: number): { template: string; minWidth: number } {
  const tracks = names.map((name) => {
    const width = widths[name];
    const [least, share] = sizes[name];
    const minimum = least * scale;
    if (width !== undefined) return { least: width, track: `${width}px` };
    return { least: minimum, track: share === 0 ? `${minimum}px` : `minmax(${minimum}px, ${share}fr)` };
  });
  const least = tracks.reduce((sum, track) => sum + track.least + gap, tickWidth + 2 * gap);
  return {
    // The last track takes the free width if no column does.
    template: [`${tickWidth}px`, ...tracks.map(({ track }) => track), 'minmax(0, 0.001fr)'].join(' '),
    minWidth: least,
  };
}

/** The columns that the list of the API lacks. The visible rows request them. */
const requested: ReadonlySet<LeadColumn> = new Set([
  'assignee',
  'payout',
  'approveAt',
  'callbackAt',
  's1',
  'lpName',
  'source',
  'email',
  'city',
]);
/** Whether a column needs a request. */
export const needsRequest = ({ names }: Columns) => names.some((name) => requested.has(name));

/** The columns that have a place of their own in a card. */
const mainColumns = ['status', 'name', 'phone', 'createdAt', 'updatedAt'] as const satisfies LeadColumn[];
/** The columns that a card shows in its further lines. */
export type FurtherColumn = Exclude<LeadColumn, (typeof mainColumns)[number]>;
export const isFurther = (column: LeadColumn): column is FurtherColumn =>
  !(mainColumns as readonly LeadColumn[]).includes(column);

const known = new Set<string>(leadColumns);
const internalColumns: ReadonlySet<LeadColumn> = new Set(['user', 'assignee', 'callbackAt']);
/** Returns the columns that a role sees. Columns of another release are left out. */
export const visibleColumns = (names: readonly LeadColumn[], role: MemberRole): readonly LeadColumn[] =>
  names.filter((name) => known.has(name) && (may(role, 'readInternals') || !internalColumns.has(name)));

function read(key: string): Columns | undefined {
  try {
    const { names, widths } = JSON.parse(localStorage.getItem(key) ?? '') as Columns;
    return Array.isArray(names) ? { names, widths } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the columns of the list and a function that changes them. `undefined` restores the usual columns. The browser
 * keeps the columns of a user. Those of a view come from the view, and a change of them lasts until the view is left or
 * saved.
 */
export function useColumns(
  userId: string,
  role: MemberRole,
  view: { readonly id: string; readonly columns: Columns | undefined } | undefined,
) {
  const key = `leads.columns.${userId}`;
  const [own, setOwn] = useState(() => read(key));
  const [draft, setDraft] = useState<{ viewId: string; columns: Columns | undefined }>();
  const isMedium = useMediaQuery('(max-width: 75em)', undefined, { getInitialValueInEffect: false });
  const ofDraft = draft !== undefined && draft.viewId === view?.id ? draft : undefined;
  const given = ofDraft === undefined ? (view?.columns ?? own) : ofDraft.columns;
  const givenNames = given?.names;
  // The same list while the columns do not change, because rows render again for another one.
  const names = useMemo(() => visibleColumns(givenNames ?? [], role), [givenNames, role]);
  // Nothing may remain of the columns of another role or release.
  const chosen = given === undefined || names.length === 0 ? undefined : { ...given, names };
  const change = (columns: Columns | undefined) => {
    if (view !== undefined) {
      setDraft({ viewId: view.id, columns });
      return;
    }
    setOwn(columns);
    try {
      if (columns === undefined) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(columns));
    } catch {
      // Without storage, the columns last until the page is left.
    }
  };
  return {
    columns: chosen ?? (isMedium ? fewer : usual),
    /** The columns that the user or the view has set. */
    chosen,
    isChanged: ofDraft !== undefined,
    change,
    /** Leaves a later change of the columns as it is. */
    forgetDraft: () => setDraft((now) => (now === draft ? undefined : now)),
  };
}
