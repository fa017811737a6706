import { AjvCompiler, type BuildCompilerFromPool } from '@fastify/ajv-compiler';
import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifyServerOptions } from 'fastify';

type CompilersFactory = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>;

const createValidators = AjvCompiler();
const createSerializers = SerializerSelector();
const serializers = new Map<string, ReturnType<ReturnType<SerializerFactory>>>();

/**
 * Compiles each request schema when the first request needs it. At the start, the schemas of all routes would take a
 * fifth of the processor time.
 */
export const buildValidator: BuildCompilerFromPool = (externalSchemas, options) => {
  const compile = createValidators(externalSchemas, options);
  return (route) => {
    let compiled: ReturnType<typeof compile> | undefined;
    const validate = (data: unknown) => {
      compiled ??= compile(route);
      // Fastify takes the errors from the result or from the function itself, which has none here.
      return compiled(data) === true ? true : { error: compiled.errors };
    };
    // The type is that of Ajv's functions, of which Fastify uses the call only.
    return validate as unknown as ReturnType<typeof compile>;
  };
};

/**
 * Compiles each response schema when the first response needs it, and once for all servers of the process, because most
 * routes have the same error responses.
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
