/**
 * Resources that are disposed in the reverse order of their registration. It is a small subset of the standard
 * `AsyncDisposableStack`, which Node.js has from version 24 on.
 */
export class DisposeStack implements AsyncDisposable {
  #resources: AsyncDisposable[] = [];

  /** Registers a resource, if there is one, and returns it. */
  use<Resource extends AsyncDisposable | undefined>(resource: Resource): Resource {
    if (resource !== undefined) this.#resources.push(resource);
    return resource;
  }

  /** Moves the resources to a new stack. Disposing this one then has no effect. */
  move(): DisposeStack {
    const moved = new DisposeStack();
    moved.#resources = this.#resources;
    this.#resources = [];
    return moved;
  }

  /**
   * Disposes all resources, even if some fail.
   *
   * @throws the error of a resource, or an AggregateError of several.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (const resource of this.#resources.splice(0).toReversed()) {
      try {
        await resource[Symbol.asyncDispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, 'Several resources failed to close');
    if (errors.length === 1) throw errors[0];
  }
}
