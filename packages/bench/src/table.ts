type Figures = Readonly<Record<string, unknown>>;

/**
 * Formats figures as text. Arrays of objects become tables, other values become a line `name: value`. A
 * property's name is split into words and ends with its unit.
 */
export function formatFigures(figures: object): string {
  const { row, tables } = flatten(figures as Figures);
  const lines = Object.entries(row).map(([name, value]) => `${inWords(name)}: ${formatValue(value)}`);
  return [lines.join('\n'), ...tables.map(([title, rows]) => formatTable(title, rows))].join('\n\n');
}

function formatTable(title: string, rows: readonly Figures[]): string {
  const flat = rows.map(flatten);
  const names = [...new Set(flat.flatMap(({ row }) => Object.keys(row)))];
  const cells = flat.map(({ row }) => names.map((name) => formatValue(row[name])));
  const head = names.map(inWords);
  const widths = head.map((text, at) => Math.max(text.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const isNumeric = head.map((_, at) => cells.every((row) => /^[-\d.]*$/.test(row[at] ?? '')));
  const line = (texts: readonly string[]) =>
    texts
      .map((cell, at) => (isNumeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  const table = [
    `${inWords(title)}:`,
    ...[head, widths.map((width) => '-'.repeat(width)), ...cells].map(line),
  ];
  // Nested tables follow. Their rows begin with the first column of the outer row.
  const inner = new Map<string, Figures[]>();
  for (const { row, tables } of flat) {
    const first = Object.fromEntries(Object.entries(row).slice(0, 1));
    for (const [name, more] of tables) {
      const prefixed = more.map((each) => Object.assign({}, first, each));
      inner.set(name, [...(inner.get(name) ?? []), ...prefixed]);
    }
  }
  return [table.join('\n'), ...[...inner].map(([name, more]) => formatTable(name, more))].join('\n\n');
}

/**
 * Separates the tables of an object from its other values. A nested object, except counts, is a table of one
 * row.
 */
function flatten(figures: Figures): { row: Figures; tables: [name: string, rows: Figures[]][] } {
  const row: Record<string, unknown> = {};
  const tables: [string, Figures[]][] = [];
  for (const [name, value] of Object.entries(figures)) {
    if (Array.isArray(value) && typeof value[0] === 'object') tables.push([name, value as Figures[]]);
    else if (isObject(value) && !/(?:Errors|Statuses)$/i.test(name)) {
      const inner = flatten(value);
      if (Object.keys(inner.row).length > 0) tables.push([name, [inner.row]]);
      tables.push(...inner.tables);
    } else if (value !== undefined && (!Array.isArray(value) || value.length > 0)) row[name] = value;
  }
  return { row, tables };
}

const isObject = (value: unknown): value is Figures =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function formatValue(value: unknown): string {
  if (typeof value === 'number' && !Number.isInteger(value)) {
    return Number.isNaN(value) ? '-' : value.toFixed(Math.abs(value) < 10 ? 2 : 0);
  }
  if (Array.isArray(value)) return value.map(formatValue).join(', ');
  if (isObject(value)) {
    return (
      Object.entries(value)
        .map(([name, count]) => `${String(count)} x ${name}`)
        .join(', ') || '-'
    );
  }
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns a property's name in words: `p50 ms` for p50Ms, `leads/s` for leadsPerSecond. */
function inWords(name: string): string {
  return name.replace('PerSecond', '/s').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Formats 10000 as `10k`. */
export function formatSize(leads: number): string {
  if (leads % 1_000_000 === 0) return `${leads / 1_000_000}m`;
  return leads % 1_000 === 0 ? `${leads / 1_000}k` : String(leads);
}

/** Formats a share from 0 to 1, such as `99.90 %`. */
export function formatPercent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
