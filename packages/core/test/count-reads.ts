import type { Database, Transaction } from '../src/db/client.ts';

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
  const countedIn = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get: (target, name) =>
        name === '$queryRaw'
          ? async (...sent: Parameters<Transaction['$queryRaw']>) => counted(await target.$queryRaw(...sent))
          : (Reflect.get(target, name) as unknown),
    });
  return {
    database: {
      ...database,
      select: async <Row extends Record<string, unknown>>(...sent: Parameters<Database['select']>) =>
        counted(await database.select<Row>(...sent)),
      transaction: (work, options) => database.transaction((tx) => work(countedIn(tx)), options),
    },
    takeBytes() {
      const taken = bytes;
      bytes = 0;
      return taken;
    },
  };
}
