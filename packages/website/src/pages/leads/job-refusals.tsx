import type { LeadJob } from '@leads/core/lead';
import { List } from '@mantine/core';
import { jobs as jobTexts } from '../../texts/jobs.ts';

/** How many leads a job could not change, and the reasons. Renders nothing if it changed all of them. */
export function JobRefusals({ job: { refused, refusals } }: { job: LeadJob }) {
  if (refused === 0) return null;
  return (
    <div>
      {jobTexts.refused(refused)}:
      <List size="sm" mah={120} style={{ overflowY: 'auto' }}>
        {[...new Set(refusals.map(({ message }) => message))].map((message) => (
          <List.Item key={message}>{message}</List.Item>
        ))}
      </List>
    </div>
  );
}
