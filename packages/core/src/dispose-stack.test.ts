import { expect, test } from 'vitest';
import { DisposeStack } from './dispose-stack.ts';

function setUp() {
  const disposed: string[] = [];
  const resource = (name: string, failure?: Error): AsyncDisposable => ({
    async [Symbol.asyncDispose]() {
      await Promise.resolve();
      disposed.push(name);
      if (failure !== undefined) throw failure;
    },
  });
  return { disposed, resource };
}

test('disposes resources once, in the reverse order of their registration', async () => {
  const { disposed, resource } = setUp();
  const stack = new DisposeStack();
  const first = resource('first');
  expect(stack.use(first)).toBe(first);
  expect(stack.use(undefined)).toBeUndefined();
  stack.use(resource('second'));
  await stack[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  expect(disposed).toEqual(['second', 'first']);
});

test('disposes the other resources after one failed, and throws its error', async () => {
  const { disposed, resource } = setUp();
  const stack = new DisposeStack();
  const [one, other] = [new Error('one'), new Error('other')];
  stack.use(resource('first'));
  stack.use(resource('second', one));
  await expect(stack[Symbol.asyncDispose]()).rejects.toBe(one);
  expect(disposed).toEqual(['second', 'first']);
  stack.use(resource('third', one));
  stack.use(resource('fourth', other));
  await expect(stack[Symbol.asyncDispose]()).rejects.toMatchObject({ errors: [other, one] });
});

test('moved resources are disposed with the new stack only', async () => {
  const { disposed, resource } = setUp();
  const stack = new DisposeStack();
  stack.use(resource('first'));
  const moved = stack.move();
  await stack[Symbol.asyncDispose]();
  expect(disposed).toEqual([]);
  await moved[Symbol.asyncDispose]();
  expect(disposed).toEqual(['first']);
});
