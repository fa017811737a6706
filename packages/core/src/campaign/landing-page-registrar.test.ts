import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createGate, type Gate } from '../../test/gate.ts';
import { newId } from '../uuid.ts';
import { LandingPageRegistrar } from './landing-page-registrar.ts';

type Pages = readonly { workspaceId: string; name: string }[];

/** A landing page store that can hold writes by a gate, or fail. */
class Store {
  readonly batches: Pages[] = [];
  concurrent = 0;
  maxConcurrent = 0;
  gate: Gate | undefined;
  failures: Error[] = [];

  async add(pages: Pages): Promise<void> {
    this.maxConcurrent = Math.max(this.maxConcurrent, (this.concurrent += 1));
    try {
      await this.gate?.opened;
      const failure = this.failures.shift();
      if (failure !== undefined) throw failure;
      this.batches.push(pages);
    } finally {
      this.concurrent -= 1;
    }
  }

  get names(): string[] {
    return this.batches.flat().map(({ name }) => name);
  }
}

const workspaceId = newId();

function setUp() {
  const store = new Store();
  const errors: unknown[] = [];
  return { store, errors, registrar: new LandingPageRegistrar(store, (error) => errors.push(error)) };
}

describe('landing page registrar', () => {
  test('writes pages of one event-loop turn in one batch, each page once', async () => {
    const { store, registrar } = setUp();
    const otherWorkspaceId = newId();
    for (let i = 0; i < 300; i++) registrar.register(workspaceId, `page-${i % 3}`);
    registrar.register(otherWorkspaceId, 'page-0');
    await registrar[Symbol.asyncDispose]();
    expect(store.batches).toEqual([
      [
        { workspaceId, name: 'page-0' },
        { workspaceId, name: 'page-1' },
        { workspaceId, name: 'page-2' },
        { workspaceId: otherWorkspaceId, name: 'page-0' },
      ],
    ]);
  });

  test('writes one batch at a time, and collects new pages for the next batch', async () => {
    const { store, registrar } = setUp();
    store.gate = createGate();
    registrar.register(workspaceId, 'a');
    await turn();
    for (let i = 0; i < 50; i++) {
      registrar.register(workspaceId, `b${i}`);
      await turn();
    }
    store.gate.open();
    await registrar[Symbol.asyncDispose]();
    expect(store.maxConcurrent).toBe(1);
    expect(store.batches.map((pages) => pages.length)).toEqual([1, 50]);
  });

  test('writes again after it was idle', async () => {
    const { store, registrar } = setUp();
    registrar.register(workspaceId, 'a');
    await turn();
    registrar.register(workspaceId, 'b');
    await turn();
    expect(store.names).toEqual(['a', 'b']);
  });

  test('reports a failed write, and writes the page when it is registered again', async () => {
    const { store, errors, registrar } = setUp();
    const failure = new Error('unavailable');
    store.failures = [failure];
    registrar.register(workspaceId, 'a');
    await turn();
    expect(errors).toEqual([failure]);
    expect(store.names).toEqual([]);
    registrar.register(workspaceId, 'a');
    registrar.register(workspaceId, 'b');
    await registrar[Symbol.asyncDispose]();
    expect(store.names).toEqual(['a', 'b']);
    expect(errors).toHaveLength(1);
  });

  test('writes the pending pages after one batch fails', async () => {
    const { store, errors, registrar } = setUp();
    store.gate = createGate();
    store.failures = [new Error('unavailable')];
    registrar.register(workspaceId, 'a');
    await turn();
    registrar.register(workspaceId, 'b');
    store.gate.open();
    await registrar[Symbol.asyncDispose]();
    expect(errors).toHaveLength(1);
    expect(store.names).toEqual(['b']);
  });

  test('writes the batch in progress and the pending pages before disposal ends', async () => {
    const { store, registrar } = setUp();
    store.gate = createGate();
    registrar.register(workspaceId, 'a');
    await turn();
    registrar.register(workspaceId, 'b');
    let disposed = false;
    const disposing = registrar[Symbol.asyncDispose]().then(() => {
      disposed = true;
    });
    await turn();
    expect(disposed).toBe(false);
    store.gate.open();
    await disposing;
    expect(store.names).toEqual(['a', 'b']);
  });

  test('ends disposal at once without pending pages', async () => {
    const { store, registrar } = setUp();
    await registrar[Symbol.asyncDispose]();
    expect(store.batches).toEqual([]);
  });

  test('accepts names of 1 to 255 characters, as Postgres counts them', async () => {
    const { store, registrar } = setUp();
    const fitting = ['a', '😀'.repeat(255), 'x\ny', '/', 'x'.repeat(255)];
    for (const name of [...fitting, '', '😀'.repeat(256), 'x'.repeat(256), `${'x'.repeat(255)}\n`]) {
      registrar.register(workspaceId, name);
    }
    await registrar[Symbol.asyncDispose]();
    expect(store.names).toEqual(fitting);
  });

  test('drops names of a workspace with half of 10,000 pending ones, and accepts those of others, and its own again afterwards', async () => {
    const { store, registrar } = setUp();
    store.gate = createGate();
    for (let i = 0; i < 10_500; i++) registrar.register(workspaceId, `flood-${i}`);
    registrar.register(newId(), 'of another workspace');
    store.gate.open();
    await turn();
    expect(store.names).toHaveLength(5_001);
    expect(store.names.at(-1)).toBe('of another workspace');
    registrar.register(workspaceId, 'after');
    await registrar[Symbol.asyncDispose]();
    expect(store.names.at(-1)).toBe('after');
  });
});
