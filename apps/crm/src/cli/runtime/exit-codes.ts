/** What the program's exit code says. */
export const exitCodes = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
