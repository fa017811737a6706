/*
 * Loaded by Node before the intake (`--import`), of which it knows nothing: asked over the IPC channel, it tells how
 * much of the heap is in use after a forced collection.
 */
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ heapUsed: process.memoryUsage().heapUsed });
});
// Nothing that keeps the service running.
process.channel?.unref();
