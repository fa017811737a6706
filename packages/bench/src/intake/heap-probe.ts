/*
 * Node loads this module before the intake (`--import`). On each message over the IPC channel it forces a collection
 * and answers with the size of the heap in use.
 */
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ heapUsed: process.memoryUsage().heapUsed });
});
// The channel must not keep the service running.
process.channel?.unref();
