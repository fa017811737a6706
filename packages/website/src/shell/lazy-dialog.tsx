import { type ComponentType, lazy, Suspense } from 'react';

/** A dialog that only who opens it has to load: pages are there sooner without. */
export function lazyDialog<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  const Loaded = lazy(async () => ({ default: await load() }));
  return function LazyDialog(props: Props) {
    return (
      <Suspense>
        <Loaded {...props} />
      </Suspense>
    );
  };
}
