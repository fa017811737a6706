import { afterAll } from 'vitest';
import { type Database, openDatabase } from '../src/db/client.ts';
import { createTestDatabase, databaseOptions, type TestDatabase } from './database.ts';

/** Creates a database for the tests of a file, and opens it as the services do. Both are disposed after the tests. */
export async function openTestDatabase(): Promise<readonly [TestDatabase, Database]> {
  const testDatabase = await createTestDatabase();
  const database = openDatabase(databaseOptions(testDatabase.url));
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await testDatabase[Symbol.asyncDispose]();
  });
  return [testDatabase, database];
}
