import { Paper } from '@mantine/core';
import { onlineManager } from '@tanstack/react-query';
import {
  type ComponentType,
  type ReactNode,
  startTransition,
  Suspense,
  use,
  useEffect,
  useEffectEvent,
  useState,
} from 'react';
import { isAnswering, recordNoAnswer } from '../api/connection.ts';
import { reportError } from '../report-errors.ts';
import * as texts from '../texts/index.ts';
import { ErrorNotice, PendingPage } from './states.tsx';
import { DialogOpener, openerOf } from './use-focus-back.ts';
import { UserError } from './user-error.ts';

const t = texts.common.errors;

type Loaded<Props> = { readonly Part: ComponentType<Props> } | { readonly error: UserError };

/** A part of a page whose code was not loaded. */
interface Failure {
  readonly error: UserError;
  readonly onRetry: () => void;
}

/** Shows the failure above the page, for a part that has no place in the page. */
export const showAbovePage = (failure: Failure, { onClose }: { onClose?: () => void }) => (
  <Paper className="load-failure" shadow="md">
    <ErrorNotice {...failure} {...(onClose !== undefined && { onClose })} />
  </Paper>
);

/**
 * A part of a page whose code is loaded when the part is first shown, so that pages load faster. The parent has the
 * `Suspense`. If the code is not loaded, the rest of the page stays, which `lazy` of React would replace by the error. The
 * code is loaded again when the user tries again, when the connection returns, and when the part is shown the next time.
 *
 * Browsers before 2026 do not request a file again that they could not load. So the code is not requested without a
 * connection, and the page is reloaded if a second attempt fails while the service answers. The service may also have a
 * newer version, with other files.
 *
 * @param showFailure the default shows it in the place of the part.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  showFailure: (failure: Failure, props: Props) => ReactNode = (failure) => <ErrorNotice {...failure} />,
) {
  let loading: Promise<Loaded<Props>> | undefined;
  /** Set when the code is loaded. */
  let ready: Loaded<Props> | undefined;
  const start = () => (loading ??= attempt());
  async function attempt(): Promise<Loaded<Props>> {
    try {
      if (onlineManager.isOnline()) return (ready = { Part: await load() });
    } catch (error) {
      recordNoAnswer();
      reportError(error);
    }
    return { error: new UserError(t.notLoaded, t.notLoadedStep) };
  }
  function LazyPart(props: Props) {
    // A resolved promise would suspend once, and React shows the fallback of the `Suspense` for 300 ms at least.
    const [result, setResult] = useState(() => ready ?? start());
    const loaded = result instanceof Promise ? use(result) : result;
    const loadAgain = () => {
      const next = start();
      startTransition(() => setResult(next));
      return next;
    };
    const onOnline = useEffectEvent(loadAgain);
    useEffect(() => {
      if ('Part' in loaded) return undefined;
      loading = undefined;
      return onlineManager.subscribe((isOnline) => isOnline && void onOnline());
    }, [loaded]);
    if ('Part' in loaded) return <loaded.Part {...props} />;
    const onRetry = async () => {
      if ('error' in (await loadAgain()) && (await isAnswering())) location.reload();
    };
    return showFailure({ error: loaded.error, onRetry: () => void onRetry() }, props);
  }
  /** Loads the code early. @returns whether it is loaded. */
  const preload = async () => {
    const isLoaded = 'Part' in (await start());
    if (!isLoaded) loading = undefined;
    return isLoaded;
  };
  return Object.assign(LazyPart, { preload, isReady: () => ready !== undefined, settle: () => start() });
}

/**
 * Renders a fallback until the code of a part is loaded or has failed to load. Then the part does not suspend. React shows
 * what has suspended 300 ms after its fallback at the earliest.
 */
function afterLoading<Props extends object>(Part: ReturnType<typeof lazyPart<Props>>, fallback: ReactNode) {
  return function PartAfterLoading(props: Props) {
    const [isSettled, setSettled] = useState(Part.isReady);
    useEffect(() => {
      let isShown = true;
      void Part.settle().then(() => isShown && setSettled(true));
      return () => {
        isShown = false;
      };
    }, []);
    return isSettled ? (
      <Suspense fallback={fallback}>
        <Part {...props} />
      </Suspense>
    ) : (
      fallback
    );
  };
}

/** A dialog whose code is loaded when the dialog is opened. */
export function lazyDialog<Props extends { onClose: () => void }>(load: () => Promise<ComponentType<Props>>) {
  const Part = lazyPart(load, showAbovePage);
  const Dialog = afterLoading(Part, null);
  function LazyDialog(props: Props) {
    const [opener] = useState(() => openerOf(document.activeElement));
    return (
      <DialogOpener value={opener}>
        <Dialog {...props} />
      </DialogOpener>
    );
  }
  return Object.assign(LazyDialog, { preload: Part.preload });
}

/** A section of a page whose code is loaded when the section is shown, with a fallback in its place meanwhile. */
export function lazySection<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: ReactNode = <PendingPage />,
) {
  return afterLoading(lazyPart(load), fallback);
}

/** A page whose code is loaded when the page is opened. Nothing is lost when it is reloaded. */
export function lazyPage(load: () => Promise<ComponentType>) {
  const Page = lazyPart(load, (failure) => <PageFailure {...failure} />);
  return Object.assign(() => <Page />, { preload: async () => void (await Page.preload()) });
}

function PageFailure(failure: Failure) {
  // After each attempt.
  useEffect(() => void reloadOnce());
  return <ErrorNotice {...failure} />;
}

const reloadedKey = 'reloadedAt';
/** The time after a reload within which a page does not reload itself again, in milliseconds. */
const reloadPauseMs = 60_000;

async function reloadOnce(): Promise<void> {
  const before = Number(sessionStorage.getItem(reloadedKey));
  if (Date.now() - before < reloadPauseMs || !(await isAnswering())) return;
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  location.reload();
}
