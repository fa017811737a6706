import { DiscardPolicy, type JetStreamManager, NatsError, StorageType, type StreamConfig } from 'nats';
import { SetupError } from '../errors.ts';

/** The settings that can be changed on an existing stream. */
type StreamLimits = Pick<StreamConfig, 'max_bytes' | 'num_replicas'> &
  Partial<Pick<StreamConfig, 'discard' | 'max_age' | 'max_msgs' | 'max_msgs_per_subject'>>;

/**
 * Creates a stream on disk, or updates the limits of an existing one. Users without permissions for it use an existing
 * stream as it is.
 *
 * nats-server before 2.10.5 would drop messages of a stream that it shrinks. A stream that rejects new messages when full
 * therefore never shrinks below twice its current size.
 *
 * @returns whether the stream has the limits. If not, this user may not change them.
 * @throws NatsError, or SetupError if the stream does not exist and this user may not create it.
 */
export async function ensureStream(
  manager: JetStreamManager,
  { name, ...fixed }: Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>,
  limits: StreamLimits,
): Promise<boolean> {
  const existing = await manager.streams.info(name).catch((error: unknown) => {
    if (error instanceof NatsError && error.api_error?.code === 404) return undefined;
    throw error;
  });
  if (existing === undefined) {
    await manager.streams
      .add({ name, ...fixed, storage: StorageType.File, ...limits })
      .catch((error: unknown) => {
        throw isForbidden(error) ? missingStream(name, error) : error;
      });
    return true;
  }
  const config = { ...existing.config, ...limits };
  if (config.discard === DiscardPolicy.New && config.max_bytes < 2 * existing.state.bytes) {
    config.max_bytes = Math.max(config.max_bytes, existing.config.max_bytes);
  }
  const isSame = (Object.keys(limits) as (keyof StreamLimits)[]).every(
    (limit) => existing.config[limit] === config[limit],
  );
  if (isSame) return true;
  try {
    await manager.streams.update(name, config);
    return true;
  } catch (error) {
    if (isForbidden(error)) return false;
    throw error;
  }
}

/** Whether the permissions of the user forbid a request. */
export function isForbidden(error: unknown): boolean {
  return error instanceof NatsError && error.isPermissionError();
}

/** The error of a user that may not create a missing stream. */
export function missingStream(name: string, cause: unknown): SetupError {
  return new SetupError(
    `The stream ${name} does not exist, and this NATS user may not create it: run \`leads nats setup\``,
    { cause },
  );
}
