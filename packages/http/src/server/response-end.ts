import type { FastifyReply } from 'fastify';

/**
 * Calls a function once when a response ends: it is sent, or the client disconnects. If the client has already
 * disconnected, for example during the authentication, the function is called immediately: no event follows.
 */
export function onResponseEnd({ raw, request }: FastifyReply, end: () => void): void {
  const { socket } = request.raw;
  if (raw.destroyed || socket.destroyed) {
    end();
    return;
  }
  let isEnded = false;
  const endOnce = () => {
    if (isEnded) return;
    isEnded = true;
    socket.off('close', endOnce);
    end();
  };
  raw.once('close', endOnce);
  // A pipelined response has no socket until the earlier responses are sent. Node does not close it with the connection.
  // A client may pipeline any number of requests, so Node must not warn about the number of listeners.
  if (raw.socket === null) socket.setMaxListeners(0).once('close', endOnce);
}
