import { watchPrograms } from './watch-programs.ts';

/* Loaded by Node before a program that starts services (--import): it fails where these write what is indiscreet. */

let areDiscreet = true;
watchPrograms((line) => {
  areDiscreet = false;
  console.error(`A log line holds what a caller sent: ${line}`);
});
process.once('exit', () => {
  if (!areDiscreet) process.exitCode = 1;
});
