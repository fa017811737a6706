import { Button } from '@mantine/core';
import { IconArrowUp } from '../../shell/icons.tsx';
import * as texts from '../../texts/index.ts';
import classes from './leads.module.css';

const t = texts.leads;

/** A button above the list that shows the leads which wait, because they would move the visible rows. */
export function WaitingLeads({
  count,
  isBehind,
  time,
  onShow,
}: {
  count: number;
  /** Whether there are more changes than one response holds. */
  isBehind: boolean;
  time: 'createdAt' | 'updatedAt';
  onShow: () => void;
}) {
  if (count === 0 && !isBehind) return null;
  return (
    <div className={classes['pill']}>
      <Button
        size="compact-md"
        radius="xl"
        leftSection={<IconArrowUp size={16} aria-hidden />}
        onClick={onShow}
      >
        {isBehind ? t.manyChanges : time === 'createdAt' ? t.newLeads(count) : t.changedLeads(count)}
      </Button>
    </div>
  );
}
