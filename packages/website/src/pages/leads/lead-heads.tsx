import { fieldOf, type SortField, sortFields } from '@leads/core/lead/sort-fields';
import type { LeadColumn } from '@leads/core/lead/view-columns';
import { type PointerEvent, type ReactNode, useState } from 'react';
import { IconArrowDown, IconArrowUp } from '../../shell/icons.tsx';
import * as texts from '../../texts/index.ts';
import { type Columns, maxColumnWidth, minColumnWidth } from './columns.ts';
import type { LeadSort } from '../../leads/lead-search.ts';
import classes from './leads.module.css';
import { timeOf } from './merge-leads.ts';

const t = texts.leads;

/** Whether an index has the leads in the order of a column. */
const isSortField = (column: LeadColumn): column is LeadColumn & SortField =>
  (sortFields as readonly string[]).includes(column);

/** The heads of the columns. Those with an index sort, and the edge of a head changes the width of its column. */
export function LeadHeads({
  columns,
  tick,
  sort,
  onSort,
  onResize,
}: {
  columns: Columns;
  tick: ReactNode;
  sort: LeadSort;
  onSort: (sort: LeadSort) => void;
  onResize: (column: LeadColumn, width: number) => void;
}) {
  const time = timeOf(sort);
  const isDescending = sort.startsWith('-');
  const { names } = columns;
  return (
    <div role="row" aria-rowindex={1} className={classes['head']}>
      <span role="columnheader" className={classes['tickCell']}>
        {tick}
      </span>
      {names.map((column) => {
        const edge = <Edge column={column} onResize={onResize} />;
        if (!isSortField(column)) {
          return (
            <span
              key={column}
              role="columnheader"
              className={`${classes['onlyTable']} ${column === 'payout' ? classes['amount'] : ''}`}
            >
              {t.columnNames[column]}
              {edge}
            </span>
          );
        }
        const isTime = column === 'createdAt' || column === 'updatedAt';
        const isOnlyTime = isTime && !names.includes(column === 'createdAt' ? 'updatedAt' : 'createdAt');
        const shown = isOnlyTime ? time : column;
        const isSorted = shown === fieldOf(sort);
        const other: LeadSort = isDescending ? shown : `-${shown}`;
        // The newest lead is usually wanted first, and the earliest call-back.
        const first: LeadSort = isTime ? `-${shown}` : shown;
        const Arrow = isDescending ? IconArrowDown : IconArrowUp;
        return (
          <span
            key={column}
            role="columnheader"
            className={isTime && shown === time ? classes['createdCell'] : classes['onlyTable']}
            aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'}
          >
            <button
              type="button"
              className={classes['sortButton']}
              onClick={() => onSort(isSorted ? other : first)}
            >
              {t.columnNames[shown]}
              {isSorted && <Arrow size={14} aria-hidden />}
            </button>
            {edge}
          </span>
        );
      })}
    </div>
  );
}

/** The right edge of a head, which a pointer drags. With the keyboard, the dialog of the columns sets widths. */
function Edge({
  column,
  onResize,
}: {
  column: LeadColumn;
  onResize: (column: LeadColumn, width: number) => void;
}) {
  const [grip, setGrip] = useState<number>();
  const widthAt = ({ clientX, currentTarget }: PointerEvent<HTMLElement>) => {
    const left = currentTarget.parentElement?.getBoundingClientRect().left ?? 0;
    return Math.round(Math.max(minColumnWidth, Math.min(maxColumnWidth, clientX + (grip ?? 0) - left)));
  };
  return (
    <span
      aria-hidden
      className={classes['edge']}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const right = event.currentTarget.parentElement?.getBoundingClientRect().right ?? event.clientX;
        setGrip(right - event.clientX);
      }}
      onPointerMove={(event) => {
        if (grip !== undefined) onResize(column, widthAt(event));
      }}
      onPointerUp={() => setGrip(undefined)}
      onPointerCancel={() => setGrip(undefined)}
    />
  );
}
