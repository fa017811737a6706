type WithoutNulls<Row> = {
  [Column in keyof Row]: Exclude<Row[Column], null> | Extract<undefined, Row[Column]>;
};

/** A row with its nulls left out: in the domain, what is absent is `undefined`. */
export function withoutNulls<Row extends object>(row: Row): WithoutNulls<Row> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as WithoutNulls<Row>;
}
