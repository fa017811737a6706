/** Variables that any program needs to run. None of them configures a service. */
const inherited = new Set(['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'SystemRoot', 'TEMP']);

/**
 * Returns the environment of a child process: the given variables and the few that any program needs. Other
 * variables of this process, such as those of a test runner, are excluded.
 */
export function serviceEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => inherited.has(name));
  return { ...Object.fromEntries(own), ...env };
}
