import * as texts from '../../texts/index.ts';

const width = 98;
const height = 24;

/** A small bar chart of the leads of each day, oldest first. Its text names the counts. */
export function Sparkline({ days }: { days: readonly number[] }) {
  const most = Math.max(1, ...days);
  const step = width / days.length;
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label={texts.campaigns.sparkline(days)}
      style={{ display: 'block' }}
    >
      <title>{texts.campaigns.sparkline(days)}</title>
      {days.map((leads, index) => {
        // A day without leads has a line, so that the days stay distinguishable.
        const barHeight = leads === 0 ? 1 : Math.max(3, (leads / most) * height);
        return (
          <rect
            // oxlint-disable-next-line react/no-array-index-key -- The days have no other identity.
            key={index}
            x={index * step + 1}
            y={height - barHeight}
            width={step - 2}
            height={barHeight}
            fill={leads === 0 ? 'var(--mantine-color-dimmed)' : 'var(--mantine-primary-color-filled)'}
          />
        );
      })}
    </svg>
  );
}
