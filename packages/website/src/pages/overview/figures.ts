import type { Overview } from '@leads/core/overview';
import { formatDay, formatTime, type TimeForm } from '../../shell/time.ts';

/** Fills of the chart: distinguishable with color blindness, in light and dark. */
export const statusFills = {
  OnHold: '#e69f00',
  Approved: '#3a87c8',
  Paid: '#0b8f6b',
  Trashed: '#8c8c8c',
} as const;

const change = new Intl.NumberFormat('en', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});
const points = new Intl.NumberFormat('en', { maximumFractionDigits: 1, signDisplay: 'exceptZero' });

export const formatChange = (share: number) => change.format(share);
export const formatPoints = (difference: number) => points.format(difference * 100);

const stepForms: Readonly<Record<Overview['unit'], TimeForm>> = {
  hour: 'dayAndTime',
  day: 'day',
  week: 'date',
  month: 'month',
  quarter: 'month',
};

/** Returns the end of a partial range in its time zone: the time, with the day if the range has several days. */
export const formatEnd = (iso: string, days: number, zone: string) =>
  formatTime(iso, days > 1 ? 'dayAndTime' : 'timeOfDay', zone);

/** Returns a day, or a range of days such as "5 Jan 2026 – 6 Jan 2026". */
export const formatDays = (from: string, to: string) => [...new Set([from, to])].map(formatDay).join(' – ');

/** Returns the label of an hour of the day, from 0 to 23. */
export const formatHour = (hour: number) => `${String(hour).padStart(2, '0')}:00`;

/** Returns the labels of the steps in their time zone. At the end of summer time, two hours have the same name. */
export function stepNames({ unit, steps }: Overview, zone: string): string[] {
  const names = steps.map(({ start }) => formatTime(start, stepForms[unit], zone));
  return steps.map(({ start }, i) => {
    const name = names[i] ?? '';
    const isRepeated = unit === 'hour' && (names[i - 1] === name || names[i + 1] === name);
    return isRepeated ? formatTime(start, 'timeWithZone', zone) : name;
  });
}
