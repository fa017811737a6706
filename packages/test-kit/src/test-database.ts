export { createEmptyDatabase, createTestDatabase, type TestDatabase } from '@leads/core/testing/database';
