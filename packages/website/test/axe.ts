import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { runScript } from './page-pool.ts';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules whose violations are never serious or critical. They take a fifth of the time of all rules. */
const lesserRules = [
  'aria-allowed-role',
  'aria-deprecated-role',
  'empty-heading',
  'empty-table-header',
  'form-field-multiple-labels',
  'heading-order',
  'image-redundant-alt',
  'landmark-banner-is-top-level',
  'landmark-complementary-is-top-level',
  'landmark-contentinfo-is-top-level',
  'landmark-main-is-top-level',
  'landmark-no-duplicate-banner',
  'landmark-no-duplicate-contentinfo',
  'landmark-no-duplicate-main',
  'landmark-one-main',
  'landmark-unique',
  'page-has-heading-one',
  'presentation-role-conflict',
  'region',
  'skip-link',
  'table-duplicate-name',
];

/** Options that skip unused results: lesser rules, passed rules, selectors of elements, and preloaded assets. */
const options = {
  resultTypes: ['violations'],
  selectors: false,
  preload: false,
  rules: Object.fromEntries(lesserRules.map((rule) => [rule, { enabled: false }])),
} as const;

/**
 * Checks a page or a part of it with axe.
 *
 * @param within a selector of the part.
 * @param rules the ids of axe rules. Without it, all serious and critical rules are checked.
 * @returns the serious and critical violations, one line for each element.
 */
export async function findViolations(
  page: Page,
  { within = 'html', rules }: { readonly within?: string; readonly rules?: readonly string[] } = {},
): Promise<string[]> {
  // During a transition, colors may lack contrast.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((animation) => animation instanceof CSSTransition)
        .map(({ finished }) => finished),
    ),
  );
  if (!(await page.evaluate(() => 'axe' in globalThis))) await runScript(page, source);
  const { violations } = await page.evaluate(
    async ([part, runOptions]) => {
      const { axe } = globalThis as unknown as { axe: { run(...args: unknown[]): Promise<AxeResults> } };
      return axe.run(part, runOptions);
    },
    [within, { ...options, ...(rules !== undefined && { runOnly: rules }) }] as const,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id} (${help}): ${html}`));
}
