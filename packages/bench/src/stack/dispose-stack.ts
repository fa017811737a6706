/** Disposes of resources in reverse order (as AsyncDisposableStack, which Node 20 does not have). */
export class DisposeStack implements AsyncDisposable {
  readonly #resources: AsyncDisposable[] = [];
  #isDisposed = false;

  /** @throws Error once the stack was disposed of: the resource is then not disposed of. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource {
    if (this.#isDisposed) throw new Error('The stack was disposed of');
    this.#resources.push(resource);
    return resource;
  }

  /** Disposes of every resource, then throws the first error. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    const errors: unknown[] = [];
    for (const resource of this.#resources.splice(0).toReversed()) {
      try {
        await resource[Symbol.asyncDispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
