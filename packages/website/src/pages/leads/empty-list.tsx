import { Button, Stack, Text } from '@mantine/core';
import { ButtonLink } from '../../shell/links.tsx';
import * as texts from '../../texts/index.ts';
import classes from './leads.module.css';

const t = texts.leads;

/** The next step if the list has no leads. It is not in the grid, which has rows only. */
export function EmptyList({ isFiltered, onShowAll }: { isFiltered: boolean; onShowAll: () => void }) {
  return (
    <Stack align="center" p="md" className={classes['empty']}>
      <Text c="dimmed" ta="center">
        {isFiltered ? t.none : t.noneYet}
      </Text>
      {isFiltered ? (
        <Button variant="default" onClick={onShowAll}>
          {t.showAll}
        </Button>
      ) : (
        <ButtonLink variant="default" to="/developers" search={{ tab: 'examples' }}>
          {t.sendFirst}
        </ButtonLink>
      )}
    </Stack>
  );
}
