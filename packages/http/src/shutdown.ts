/** From the signal to the end, in milliseconds. Orchestrators kill after 30 s. */
export const shutdownMs = 28_000;
