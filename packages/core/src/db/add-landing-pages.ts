import type { UnknownLandingPage } from '../campaign/landing-page-store.ts';
import { caps } from '../limits/caps.ts';
import { newId } from '../uuid.ts';
import type { Database } from './client.ts';

/** The maximum of landing pages of a workspace that wait for approval. Further names are dropped. */
const maxPendingPages = 500;

/** Adds landing pages, as {@link LandingPageStore.add}. */
export async function addLandingPages(
  prisma: Database['prisma'],
  pages: readonly UnknownLandingPage[],
  capPerKey: number | undefined,
): Promise<void> {
  const counts = await prisma.landingPage.groupBy({
    by: ['workspaceId'],
    where: {
      workspaceId: { in: [...new Set(pages.map(({ workspaceId }) => workspaceId))] },
      pendingSince: null,
    },
    _count: true,
  });
  const room = new Map(
    counts.map(({ workspaceId, _count }) => [workspaceId, caps.landingPages.max - _count]),
  );
  const fitting = pages.filter(({ workspaceId }) => {
    const left = room.get(workspaceId) ?? caps.landingPages.max;
    room.set(workspaceId, left - 1);
    return left > 0;
  });
  await prisma.landingPage.createMany({
    data: await rowsOfNewPages(prisma, fitting, capPerKey),
    skipDuplicates: true,
  });
}

/**
 * Returns the rows of new landing pages. Beyond the cap of its API key for the current day (UTC), a landing page waits
 * for approval. Two instances that register at the same time may exceed the cap.
 */
async function rowsOfNewPages(
  prisma: Database['prisma'],
  pages: readonly UnknownLandingPage[],
  capPerKey: number | undefined,
) {
  const keys = new Set(pages.flatMap(({ apiKeyId }) => apiKeyId ?? []));
  if (capPerKey === undefined || keys.size === 0) return pages.map((page) => rowOf(page));
  const workspaceId = { in: [...new Set(pages.map((page) => page.workspaceId))] };
  const today = new Date();
  today.setUTCHours(0, 0, 0, 0);
  const registered = await prisma.landingPage.groupBy({
    by: ['registeredBy'],
    where: { workspaceId, registeredBy: { in: [...keys] }, createdAt: { gte: today }, pendingSince: null },
    _count: true,
  });
  const pending = await prisma.landingPage.groupBy({
    by: ['workspaceId'],
    where: { workspaceId, pendingSince: { not: null }, dismissedAt: null },
    _count: true,
  });
  const registeredByKey = new Map(registered.map((group) => [group.registeredBy, group._count]));
  const pendingByWorkspace = new Map(pending.map((group) => [group.workspaceId, group._count]));
  /** Counts one more and returns whether it is within the maximum. */
  const fits = <Key>(counts: Map<Key, number>, key: Key, max: number): boolean => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= max;
  };
  return pages.flatMap((page) => {
    if (page.apiKeyId === undefined || fits(registeredByKey, page.apiKeyId, capPerKey)) {
      return rowOf(page);
    }
    return fits(pendingByWorkspace, page.workspaceId, maxPendingPages) ? rowOf(page, new Date()) : [];
  });
}

function rowOf({ workspaceId, name, apiKeyId }: UnknownLandingPage, pendingSince?: Date) {
  return {
    id: newId(),
    workspaceId,
    name,
    registeredBy: apiKeyId ?? null,
    pendingSince: pendingSince ?? null,
  };
}
