import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { runMigration } from './migration-script.ts';

/** Node has it; its type declarations do not. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
};

/** Prisma's schema engine on one connection, which its owner may use as well. */
export interface EngineSession extends AsyncDisposable {
  readonly engine: bindings.SchemaEngine;
  query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
}

/**
 * Starts Prisma's schema engine on a database.
 *
 * @param options.schema `schema.prisma`, where the engine needs one.
 * @param options.runScript runs a migration's script in place of the engine's adapter, which would cut it at
 *   every semicolon, even within a function's body.
 * @throws Error of node-postgres when the database cannot be reached.
 */
export async function openSchemaEngine(options: {
  databaseUrl: string;
  schema?: { path: string; content: string };
  runScript?: (script: string) => Promise<unknown>;
}): Promise<EngineSession> {
  loadBindings();
  const client = await openClient(options.databaseUrl);
  const query = (sql: string) => client.query(sql);
  const runScript = options.runScript ?? ((script) => runMigration(script, query));

  const adapters = bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => adapt(client, runScript),
    connectToShadowDb: async () => {
      const name = `prisma_shadow_${randomUUID()}`;
      await query(`CREATE DATABASE "${name}"`);
      const url = new URL(options.databaseUrl);
      url.pathname = name;
      const shadowClient = await openClient(url.href);
      const shadow = await adapt(shadowClient, (script) =>
        runMigration(script, (sql) => shadowClient.query(sql)),
      );
      shadow.dispose = async () => {
        await shadowClient.end();
        await query(`DROP DATABASE "${name}"`);
      };
      return shadow;
    },
  });

  try {
    const datamodels: [string, string][] | undefined =
      options.schema === undefined ? undefined : [[options.schema.path, options.schema.content]];
    const engine = await bindings.SchemaEngine.new({ datamodels }, () => undefined, adapters);
    return {
      engine,
      query: async <Row extends pg.QueryResultRow>(sql: string) => (await client.query<Row>(sql)).rows,
      async [Symbol.asyncDispose]() {
        engine.free();
        await client.end();
      },
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

let bindingsLoaded = false;

/**
 * The package's main entry imports its .wasm file, which Node 20 cannot, so the engine is instantiated by hand;
 * once in a process, since the bindings hold the instance in a variable of their own.
 */
function loadBindings(): void {
  if (bindingsLoaded) return;
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const module = new WebAssembly.Module(readFileSync(join(dirname(entry), 'schema_engine_bg.wasm')));
  const instance = new WebAssembly.Instance(module, {
    './schema_engine_bg.js': Object.fromEntries(Object.entries(bindings).map(withoutWaiting)),
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports['__wbindgen_start'] as () => void)();
  bindingsLoaded = true;
}

/** The engine leaves a timer of 10 s behind, for which no process should stay alive. */
function withoutWaiting([name, binding]: [string, unknown]): [string, unknown] {
  if (!name.startsWith('__wbg_setTimeout_') || typeof binding !== 'function') return [name, binding];
  return [name, (...args: unknown[]) => (binding(...args) as NodeJS.Timeout).unref()];
}

/** A connection; whoever opens it ends it. */
export async function openClient(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  // A connection that breaks fails the statement under way and those that follow; that is enough.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Postgres's one-byte "char", of which its catalogue has columns. */
const internalChar = 18;

/**
 * Prisma's adapter on one connection, which its owner uses as well. The adapter wants a pool; a pool of its own
 * would drop the connection, and with it the transaction, after every statement that fails.
 */
async function adapt(client: pg.Client, runScript: (script: string) => Promise<unknown>) {
  // The adapter refuses results with a "char"; as text it takes them, and the engine wants to hear "character".
  let charColumns: number[] = [];
  const query = client.query.bind(client) as (...args: unknown[]) => Promise<{ fields?: pg.FieldDef[] }>;
  const describing = Object.assign(new pg.Pool(), {
    query: async (...args: unknown[]) => {
      const result = await query(...args);
      charColumns = (result.fields ?? []).flatMap((field, i) =>
        field.dataTypeID === internalChar ? [i] : [],
      );
      for (const i of charColumns)
        Object.assign(result.fields?.[i] ?? {}, { dataTypeID: pg.types.builtins.TEXT });
      return result;
    },
  });

  // Given a pool, the adapter leaves it to its owner to end the connection.
  const adapter = await new PrismaPg(describing).connect();
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (statement) => {
    const result = await queryRaw(statement);
    for (const i of charColumns) result.columnTypes[i] = ColumnTypeEnum.Character;
    return result;
  };
  adapter.executeScript = async (script) => {
    await runScript(script);
  };
  return adapter;
}
