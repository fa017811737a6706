const today = () => new Date().toISOString().slice(0, 10);

/**
 * Runs checks that compare days of a service with the day of the test. If the day in UTC changes meanwhile, their outcome
 * is ignored and they run again.
 *
 * @param checks receives the day, as `YYYY-MM-DD`. They must create their own data.
 */
export async function onOneDay(checks: (day: string) => Promise<void>): Promise<void> {
  for (;;) {
    const day = today();
    try {
      await checks(day);
      if (today() === day) return;
    } catch (error) {
      if (today() === day) throw error;
    }
  }
}
