import { DiscardPolicy, type JetStreamManager, NatsError, StorageType, type StreamConfig } from 'nats';

/** The settings that can be changed on an existing stream. */
type StreamLimits = Pick<StreamConfig, 'max_bytes' | 'num_replicas'> & Partial<Pick<StreamConfig, 'max_age'>>;

/**
 * Creates a stream on disk, or updates the limits of an existing one.
 *
 * nats-server before 2.10.5 would drop messages of a stream that it shrinks. A stream that rejects new messages when full
 * therefore never shrinks below twice its current size.
 *
 * @throws NatsError
 */
export async function ensureStream(
  manager: JetStreamManager,
  { name, ...fixed }: Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>,
  limits: StreamLimits,
): Promise<void> {
  const existing = await manager.streams.info(name).catch((error: unknown) => {
    if (error instanceof NatsError && error.api_error?.code === 404) return undefined;
    throw error;
  });
  if (existing === undefined) {
    await manager.streams.add({ name, ...fixed, storage: StorageType.File, ...limits });
    return;
  }
  const config = { ...existing.config, ...limits };
  if (config.discard === DiscardPolicy.New && config.max_bytes < 2 * existing.state.bytes) {
    config.max_bytes = Math.max(config.max_bytes, existing.config.max_bytes);
  }
  const isSame = (Object.keys(limits) as (keyof StreamLimits)[]).every(
    (limit) => existing.config[limit] === config[limit],
  );
  if (!isSame) await manager.streams.update(name, config);
}
