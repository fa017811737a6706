import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { NatsError, nanos, type ObjectStore, StorageType } from 'nats';
import { Compile } from 'typebox/compile';
import { staleMs } from '../answer-cache.ts';
import { LeadsError } from '../errors.ts';
import { IntakeSnapshot, type SnapshotStore } from '../snapshot/intake-snapshot.ts';
import { timedOut, withTimeout } from '../with-timeout.ts';
import type { Broker } from './broker.ts';
import { isForbidden, missingStream } from './ensure-stream.ts';

const bucket = 'leads_intake';
/** JetStream's name for the stream of the bucket. */
const stream = `OBJ_${bucket}`;
/**
 * The name contains the version of the format. A new version has another name, so that during an upgrade no release reads
 * a snapshot that lacks the restrictions of keys.
 */
const name = 'snapshot-2';
/** The size limit of the bucket. It holds two snapshots while one replaces the other. */
const maxBytes = 64 * 1024 * 1024;
/** The limit of a decompressed snapshot. */
const maxUnpackedBytes = 128 * 1024 * 1024;
const getTimeoutMs = 3_000;
/** JetStream's error code for a wrong last sequence. */
const wrongLastSequence = 10_071;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Stores the latest snapshot in an object store of JetStream, which removes it when it is too old. */
export class NatsSnapshotStore implements SnapshotStore {
  readonly #broker: Broker;
  readonly #replicas: number;
  readonly #onError: (error: unknown) => void;
  #hasReplicas = false;

  /**
   * @param options.replicas the number of servers of a cluster that store it.
   * @param options.onError called once if an existing bucket cannot have as many replicas. It is used as it is.
   */
  constructor(
    broker: Broker,
    { replicas, onError }: { replicas: number; onError: (error: unknown) => void },
  ) {
    this.#broker = broker;
    this.#replicas = replicas;
    this.#onError = onError;
  }

  get isConnected(): boolean {
    return this.#broker.isConnected;
  }

  find(): ReturnType<SnapshotStore['find']> {
    return this.#withBucket(async (objects) => {
      const info = await objects.info(name);
      if (info === null || info.deleted) return undefined;
      return { at: Number(info.metadata?.['at'] ?? 0), revision: info.revision };
    });
  }

  put(snapshot: IntakeSnapshot, revision: number | undefined): Promise<void> {
    return this.#withBucket(async (objects) => {
      const packed = await pack(JSON.stringify(snapshot));
      try {
        await objects.putBlob(
          { name, metadata: { at: String(snapshot.at) } },
          packed,
          revision === undefined ? {} : { previousRevision: revision },
        );
      } catch (error) {
        if (!(error instanceof NatsError && error.api_error?.err_code === wrongLastSequence)) throw error;
      }
    });
  }

  get(): Promise<IntakeSnapshot | undefined> {
    return this.#withBucket(async (objects) => {
      // Reading would never end if another snapshot replaces this one in the meantime.
      const packed = await withTimeout(getTimeoutMs, objects.getBlob(name));
      if (packed === timedOut) throw new Error('Reading the snapshot timed out');
      if (packed === null) return undefined;
      const text = (await unpack(packed, { maxOutputLength: maxUnpackedBytes })).toString();
      const snapshot: unknown = JSON.parse(text);
      // Compiling makes the check ten times as fast.
      if (!Compile(IntakeSnapshot).Check(snapshot)) throw new Error('The snapshot does not match its schema');
      return snapshot;
    });
  }

  async #withBucket<Result>(work: (objects: ObjectStore) => Promise<Result>): Promise<Result> {
    try {
      const objects = await openBucket(this.#broker, this.#replicas);
      if (!this.#hasReplicas) await updateReplicas(this.#broker, this.#replicas, this.#onError);
      this.#hasReplicas = true;
      return await work(objects);
    } catch (cause) {
      throw new LeadsError('unavailable', { cause });
    }
  }
}

/**
 * Creates the bucket of snapshots, or updates the replicas of an existing one.
 *
 * @throws NatsError
 */
export async function ensureSnapshotBucket(broker: Broker, replicas: number): Promise<void> {
  await openBucket(broker, replicas);
  await updateReplicas(broker, replicas, (error) => {
    throw error;
  });
}

/** Opens the bucket. If it does not exist, it is created. */
async function openBucket(broker: Broker, replicas: number): Promise<ObjectStore> {
  try {
    return await broker.jetStream.views.os(bucket, {
      ttl: nanos(staleMs),
      max_bytes: maxBytes,
      storage: StorageType.File,
      replicas,
    });
  } catch (error) {
    throw isForbidden(error) ? missingStream(stream, error) : error;
  }
}

/** Updates the replicas of the bucket. */
async function updateReplicas(
  broker: Broker,
  replicas: number,
  onError: (error: unknown) => void,
): Promise<void> {
  const { streams } = await broker.manager();
  const { config } = await streams.info(stream);
  if (config.num_replicas === replicas) return;
  await streams.update(stream, { ...config, num_replicas: replicas }).catch(onError);
}
