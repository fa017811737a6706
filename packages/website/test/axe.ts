import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Of what nothing is told below: what is in order, by which selector it is found, and what would be fetched anew. */
const leaveOut = { resultTypes: ['violations'], selectors: false, preload: false } as const;

/**
 * What axe finds in a page, or in a part of it, that is serious or critical: a line for each element.
 * @param rules only these of axe's, by their ids.
 */
export async function findBarriers(
  page: Page,
  { within = 'html', rules }: { readonly within?: string; readonly rules?: readonly string[] } = {},
): Promise<string[]> {
  // Colours on their way from one to another may be hard to tell apart.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((animation) => animation instanceof CSSTransition)
        .map(({ finished }) => finished),
    ),
  );
  // Evaluated by the browser itself: the page's policy lets no other script in.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const { violations } = await page.evaluate(
    async ([part, options]) => {
      const { axe } = globalThis as unknown as { axe: { run(...args: unknown[]): Promise<AxeResults> } };
      return axe.run(part, options);
    },
    [within, { ...leaveOut, ...(rules !== undefined && { runOnly: rules }) }] as const,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id} (${help}): ${html}`));
}
