import type { RefObject } from 'react';
import { type Density, useDensity } from '../../shell/density.ts';
import { useIsNarrower } from '../../shell/use-is-narrower.ts';
import { type Columns, isFurther } from './columns.ts';

/** Where the list is narrower, in pixels, each lead is a card. The five usual columns of a medium window have 728. */
const cardWidth = 600;
/** The heights of a row and of a card, in pixels. */
const rowHeights: Readonly<Record<Density, { readonly row: number; readonly card: number }>> = {
  comfortable: { row: 42, card: 60 },
  compact: { row: 32, card: 52 },
};
/** The height of a line with further columns of a card, in pixels. */
const furtherHeight = 18;

/**
 * Returns whether each lead is a card, and the number of lines for the further columns of a card. The heights are those of
 * a lead and of the column heads, in pixels.
 */
export function useRowHeights(frame: RefObject<HTMLElement | null>, columns: Columns) {
  const hasCards = useIsNarrower(frame, cardWidth);
  const [density] = useDensity();
  const furtherLines = Math.min(2, Math.ceil(columns.names.filter(isFurther).length / 3));
  const { row, card } = rowHeights[density];
  return hasCards
    ? { hasCards, furtherLines, height: card + furtherLines * furtherHeight, headHeight: 36 }
    : { hasCards, furtherLines, height: row, headHeight: 40 };
}
