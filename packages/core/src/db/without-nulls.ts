type WithoutNulls<Row> = {
  [Column in keyof Row]: Exclude<Row[Column], null> | Extract<undefined, Row[Column]>;
};

/** Returns a row without its nulls: the domain represents an absent value as `undefined`. */
export function withoutNulls<Row extends object>(row: Row): WithoutNulls<Row> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as WithoutNulls<Row>;
}
