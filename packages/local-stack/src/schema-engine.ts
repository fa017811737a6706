import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

/*
 * Prisma's schema engine as WebAssembly, for development only. It writes the SQL between a database and
 * schema.prisma.
 * The documented way is `prisma migrate diff`. But the command line of Prisma 7 always downloads a native
 * engine, even for its help text, which fails in a closed network. It has no option for the WebAssembly
 * engine, which "was too unstable to ship in Prisma 7" (https://github.com/prisma/orm/issues/8626). Once it
 * has one, use it and remove this file. Services and `leads migrate` do not depend on it.
 */

/** Node provides this global, but its type declarations omit it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
};

/** Includes all tables and enums. */
export const schemaFilters = { externalTables: [], externalEnums: [] };

/**
 * Returns the SQL that brings a database to the state of a schema file; empty if they agree.
 *
 * @throws Error of the engine if the database is unavailable or the schema is invalid.
 */
export async function diffSchema(options: { databaseUrl: string; schemaPath: string }): Promise<string> {
  const { databaseUrl, schemaPath } = options;
  const files = [{ path: basename(schemaPath), content: readFileSync(schemaPath, 'utf8') }];
  return withSchemaEngine(databaseUrl, async (engine) => {
    const { stdout, exitCode } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: dirname(schemaPath) },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: schemaFilters,
    });
    return exitCode === 0 ? '' : (stdout ?? '');
  });
}

/** Runs `work` with an engine that is connected to a database. */
export async function withSchemaEngine<Result>(
  databaseUrl: string,
  work: (engine: bindings.SchemaEngine) => Promise<Result>,
): Promise<Result> {
  loadBindings();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  try {
    const connect = () => connectAdapter(pool);
    const adapters = bindMigrationAwareSqlAdapterFactory({
      provider: 'postgres',
      adapterName: '@prisma/adapter-pg',
      connect,
      connectToShadowDb: connect,
    });
    const engine = await bindings.SchemaEngine.new({ datamodels: undefined }, () => undefined, adapters);
    try {
      return await work(engine);
    } finally {
      engine.free();
    }
  } finally {
    await pool.end();
  }
}

let bindingsLoaded = false;

/**
 * Instantiates the engine by hand, because Node 20 cannot import a .wasm file, as the package's main entry
 * does. It runs once in a process, since the bindings keep the instance in a variable.
 */
function loadBindings(): void {
  if (bindingsLoaded) return;
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const module = new WebAssembly.Module(readFileSync(join(dirname(entry), 'schema_engine_bg.wasm')));
  const instance = new WebAssembly.Instance(module, {
    './schema_engine_bg.js': Object.fromEntries(Object.entries(bindings).map(unreferenceTimer)),
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports['__wbindgen_start'] as () => void)();
  bindingsLoaded = true;
}

/** Unreferences the timer of 10 s that the engine leaves behind. Otherwise it keeps the process alive. */
function unreferenceTimer([name, binding]: [string, unknown]): [string, unknown] {
  if (!name.startsWith('__wbg_setTimeout_') || typeof binding !== 'function') return [name, binding];
  return [name, (...args: unknown[]) => (binding(...args) as NodeJS.Timeout).unref()];
}

/** The single-byte type "char" of columns in the system catalogs. Prisma's adapter rejects it. */
const charTypeId = 18;

/** Connects Prisma's adapter, and presents columns of type "char" as the engine expects them. */
async function connectAdapter(pool: pg.Pool) {
  // The adapter accepts these columns as text. The engine expects the type Character.
  let charColumns: number[] = [];
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<{ fields?: pg.FieldDef[] }>;
  const poolWithoutChar = Object.assign(pool, {
    query: async (...args: unknown[]) => {
      const result = await query(...args);
      const fields = result.fields ?? [];
      charColumns = fields.flatMap(({ dataTypeID }, i) => (dataTypeID === charTypeId ? [i] : []));
      for (const i of charColumns) Object.assign(fields[i] ?? {}, { dataTypeID: pg.types.builtins.TEXT });
      return result;
    },
  });
  const adapter = await new PrismaPg(poolWithoutChar).connect();
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (statement) => {
    const result = await queryRaw(statement);
    for (const i of charColumns) result.columnTypes[i] = ColumnTypeEnum.Character;
    return result;
  };
  return adapter;
}
