const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

const units = [
  ['minute', 60_000, 60],
  ['hour', 3_600_000, 24],
  ['day', 86_400_000, 7],
] as const;

/** "3 min. ago"; a day once a week has passed. */
export function relativeTime(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs;
  if (Math.abs(ms) < 60_000) return 'now';
  for (const [unit, length, most] of units) {
    const count = Math.trunc(ms / length);
    if (Math.abs(count) < most) return relative.format(count, unit);
  }
  return day.format(new Date(iso));
}

export function exactTime(iso: string): string {
  return exact.format(new Date(iso));
}
