type WithoutNulls<Row> = {
  [Column in keyof Row]: Exclude<Row[Column], null> | Extract<undefined, Row[Column]>;
};

/** Returns a row without its nulls: the domain represents an absent value as `undefined`. */
export function withoutNulls<Row extends object>(row: Row): WithoutNulls<Row> {
  // `filter` and `Object.fromEntries` take twice as long for the 35 columns of a lead.
  const present: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) if (value !== null) present[column] = value;
  return present as WithoutNulls<Row>;
}
