import type { RunningService } from '@leads/test-kit/running-service';

/** Returns the numbers of reads that run and that wait, from the metric of a queue of reads. */
export async function queueLoad(
  service: RunningService,
  metric: 'costly_reads' | 'event_reads',
): Promise<number[]> {
  const { text } = await service.send({ path: '/metrics' });
  return ['running', 'waiting'].map((state) =>
    Number(new RegExp(`^${metric}{.*state="${state}".*} (\\d+)$`, 'm').exec(text)?.[1]),
  );
}
