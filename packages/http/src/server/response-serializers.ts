import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifyServerOptions } from 'fastify';

type CompilersFactory = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>;

const createSerializers = SerializerSelector();
const serializers = new Map<string, ReturnType<ReturnType<SerializerFactory>>>();

/**
 * Compiles each response schema when the first response needs it, and once for all servers of the process. Most routes
 * have the same error responses, and at the start all schemas would take a tenth of the processor time.
 */
export const buildSerializer: NonNullable<CompilersFactory['buildSerializer']> = (
  externalSchemas,
  options,
) => {
  const compile = createSerializers(externalSchemas, options);
  return (route) => {
    let serialize: ReturnType<typeof compile> | undefined;
    return (data: unknown) => {
      if (serialize === undefined) {
        const key = JSON.stringify([externalSchemas, route.schema]);
        serialize = serializers.get(key) ?? compile(route);
        serializers.set(key, serialize);
      }
      return serialize(data);
    };
  };
};
