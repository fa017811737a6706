import { type RefObject, useState } from 'react';
import { type Density, useDensity } from '../../shell/density.ts';
import { useIsNarrower } from '../../shell/use-is-narrower.ts';
import { type Columns, isFurther } from './columns.ts';

/** The usual font size of the root element, in pixels. All sizes are for it, and grow with that of the browser's settings. */
const usualFontSize = 16;
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
 * a lead and of the column heads, in pixels. `scale` is the font size of the page in relation to the usual one.
 */
export function useRowHeights(frame: RefObject<HTMLElement | null>, columns: Columns) {
  const [scale] = useState(
    () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / usualFontSize,
  );
  const hasCards = useIsNarrower(frame, cardWidth * scale);
  const [density] = useDensity();
  const furtherLines = Math.min(2, Math.ceil(columns.names.filter(isFurther).length / 3));
  const { row, card } = rowHeights[density];
  const height = hasCards ? card + furtherLines * furtherHeight : row;
  return { hasCards, furtherLines, scale, height: height * scale, headHeight: (hasCards ? 36 : 40) * scale };
}
