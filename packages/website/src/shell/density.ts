import { useLocalStorage } from '@mantine/hooks';

/** How much space the rows of lists and tables take. */
export const densities = ['comfortable', 'compact'] as const;
export type Density = (typeof densities)[number];

/** Returns the density of this browser and a function that changes it, on all open pages. */
export function useDensity(): [Density, (density: Density) => void] {
  const [stored, store] = useLocalStorage({
    key: 'leads.density',
    defaultValue: 'comfortable',
    getInitialValueInEffect: false,
  });
  // Another release may have stored another value.
  return [densities.find((each) => each === stored) ?? 'comfortable', store];
}
