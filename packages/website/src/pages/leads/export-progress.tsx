import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import * as texts from '../../texts/index.ts';
import type { RunningExport } from './running-exports.ts';

const t = texts.leads;

/** The progress of the running exports, each with a button that cancels it. */
export function ExportProgress({ exports }: { exports: readonly RunningExport[] }) {
  return exports.map(({ id, fileName, received, total, cancel }) => {
    const label = t.exportProgress(fileName, received, total);
    return (
      <Group key={id} gap="sm" wrap="nowrap">
        <Stack gap={4} flex={1} miw={0}>
          <Text size="sm">{label}</Text>
          <Progress
            value={total === undefined || total === 0 ? 100 : Math.min(100, (received / total) * 100)}
            animated={total === undefined}
            aria-label={label}
          />
        </Stack>
        <Button size="compact-sm" variant="default" onClick={cancel}>
          {t.cancelJob}
        </Button>
      </Group>
    );
  });
}
