/** What a program needs to run at all; nothing that configures one of ours. */
const inherited = new Set(['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'SystemRoot', 'TEMP']);

/**
 * The environment of a child process: what is given, and the few variables that any program needs. The rest of
 * this process's environment, a test runner's for instance, does not reach it.
 */
export function serviceEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => inherited.has(name));
  return { ...Object.fromEntries(own), ...env };
}
