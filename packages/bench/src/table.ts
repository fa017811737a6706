/** A table of texts as lines, its columns as wide as they need be; figures to the right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isFigures = head.map((_, column) => rows.every((row) => /^[^a-z]*x?$/.test(row[column] ?? '')));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        isFigures[column] === true ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** Milliseconds; `-` where there are none. */
export function formatMs(value = Number.NaN): string {
  return Number.isNaN(value) ? '-' : value.toFixed(value < 10 ? 2 : 0);
}

/** How many times something is something else; `-` where that is not known. */
export function formatTimes(value: number): string {
  return Number.isNaN(value) ? '-' : `${value.toFixed(2)}x`;
}
