import type { Database, StatementsOfTransaction } from '../src/db/client.ts';

/** Returns the database, and a function that returns the bytes of the rows read since its last call, as JSON. */
export function countReads(database: Database): { database: Database; takeBytes: () => number } {
  let bytes = 0;
  const counted = <Rows>(rows: Rows): Rows => {
    const text = JSON.stringify(rows, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    bytes += Buffer.byteLength(text);
    return rows;
  };
  const countedIn = (tx: StatementsOfTransaction): StatementsOfTransaction => ({
    ...tx,
    select: async <Row extends Record<string, unknown>>(
      ...sent: Parameters<StatementsOfTransaction['select']>
    ) => counted(await tx.select<Row>(...sent)),
  });
  return {
    database: {
      ...database,
      select: async <Row extends Record<string, unknown>>(...sent: Parameters<Database['select']>) =>
        counted(await database.select<Row>(...sent)),
      selectInTransaction: (work) => database.selectInTransaction((tx) => work(countedIn(tx))),
    },
    takeBytes() {
      const taken = bytes;
      bytes = 0;
      return taken;
    },
  };
}
