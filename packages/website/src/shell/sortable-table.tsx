import { Table, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { IconArrowDown, IconArrowUp } from './icons.tsx';

/** The column that a table is sorted by, and its direction. */
export interface TableSort<Key extends string> {
  readonly by: Key;
  readonly isDescending: boolean;
}

/** Returns the rows in the order that the user has chosen. Missing values are last. */
export function useSortedRows<Row, Key extends string>(
  rows: readonly Row[],
  valueOf: (row: Row, key: Key) => string | number | null | undefined,
  initial: TableSort<Key>,
) {
  const [sort, setSort] = useState(initial);
  const direction = sort.isDescending ? -1 : 1;
  const sorted = rows.toSorted((one, other) => {
    const [a, b] = [valueOf(one, sort.by) ?? undefined, valueOf(other, sort.by) ?? undefined];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    if (typeof a === 'string' && typeof b === 'string') return direction * a.localeCompare(b, 'en');
    return direction * (Number(a) - Number(b));
  });
  /** Sorts by a column, or reverses its direction. Texts begin with A, and numbers with the largest. */
  const sortBy = (by: Key, isText: boolean) =>
    setSort({ by, isDescending: sort.by === by ? !sort.isDescending : !isText });
  return { sorted, sort, sortBy };
}

/** A column header whose button sorts the table. */
export function SortableHeader<Key extends string>({
  label,
  by,
  isText = false,
  sort,
  onSort,
}: {
  label: string;
  by: Key;
  /** Whether the column has texts. Numbers are aligned to the right. */
  isText?: boolean;
  sort: TableSort<Key>;
  onSort: (by: Key, isText: boolean) => void;
}) {
  const isSorted = sort.by === by;
  const Icon = sort.isDescending ? IconArrowDown : IconArrowUp;
  return (
    <Table.Th
      scope="col"
      ta={isText ? 'left' : 'right'}
      aria-sort={isSorted ? (sort.isDescending ? 'descending' : 'ascending') : 'none'}
    >
      <UnstyledButton
        fz="inherit"
        fw="inherit"
        style={{ whiteSpace: 'nowrap' }}
        onClick={() => onSort(by, isText)}
      >
        {label}
        {isSorted && <Icon size={14} aria-hidden style={{ verticalAlign: '-2px', marginInlineStart: 2 }} />}
      </UnstyledButton>
    </Table.Th>
  );
}
