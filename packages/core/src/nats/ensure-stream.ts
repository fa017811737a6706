import { DiscardPolicy, type JetStreamManager, NatsError, StorageType, type StreamConfig } from 'nats';

/** What may be set about a stream that stands. */
type StreamLimits = Pick<StreamConfig, 'max_bytes' | 'num_replicas'> & Partial<Pick<StreamConfig, 'max_age'>>;

/**
 * Makes a stream on disk, or sets the limits of one that stands. One that refuses what is new is never made smaller than
 * twice what it holds: nats-server before 2.10.5 would drop the rest.
 *
 * @throws NatsError
 */
export async function ensureStream(
  manager: JetStreamManager,
  { name, ...fixed }: Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>,
  limits: StreamLimits,
): Promise<void> {
  const standing = await manager.streams.info(name).catch((error: unknown) => {
    if (error instanceof NatsError && error.api_error?.code === 404) return undefined;
    throw error;
  });
  if (standing === undefined) {
    await manager.streams.add({ name, ...fixed, storage: StorageType.File, ...limits });
    return;
  }
  const config = { ...standing.config, ...limits };
  if (config.discard === DiscardPolicy.New && config.max_bytes < 2 * standing.state.bytes) {
    config.max_bytes = Math.max(config.max_bytes, standing.config.max_bytes);
  }
  const isSame = (Object.keys(limits) as (keyof StreamLimits)[]).every(
    (limit) => standing.config[limit] === config[limit],
  );
  if (!isSame) await manager.streams.update(name, config);
}
