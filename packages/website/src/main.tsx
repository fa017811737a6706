import { MantineProvider } from '@mantine/core';
import './components.css';
import { notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/api-error.ts';
import { meQuery } from './api/account.ts';
import { configureClient } from './api/client.ts';
import { reportError, reportUncaughtErrors } from './report-errors.ts';
import { createAppRouter } from './router.tsx';
import { hasInput } from './shell/discard-question.ts';
import { askForIdentity } from './shell/identity-question.ts';
import { keepEscapeInDialogs } from './shell/keep-escape.ts';
import { returnLostFocus } from './shell/return-focus.ts';
import { showSignedOut } from './shell/signed-out-notice.tsx';
import { reloadPage } from './shell/workspace-reload.ts';
import { readableColors, theme } from './theme.ts';
import './website.css';

reportUncaughtErrors();
returnLostFocus();
keepEscapeInDialogs();

// The default scheduler renders query results after a timer. A dialog could then close and a notification could report
// a change while the list still shows the old rows. Microtasks render the results first.
notifyManager.setScheduler(queueMicrotask);

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Without a connection, a request fails at once and says so. The default is to wait without an end.
      networkMode: 'always',
      refetchOnReconnect: true,
      // A retry after a 4xx response fails again. A retry after a network error or a 5xx response can succeed.
      retry: (failures, error) =>
        failures < 2 &&
        !(
          error instanceof ApiError &&
          ((error.status >= 400 && error.status < 500) || error.code === 'no_answer')
        ),
      staleTime: 5_000,
    },
    // The default keeps a change while the browser is offline and sends it later, when the user may be on another page.
    mutations: { networkMode: 'always' },
  },
});
const router = createAppRouter(queryClient);

configureClient({
  onSignedOut() {
    if (router.state.location.pathname === '/sign-in') return;
    if (hasInput()) {
      showSignedOut();
      return;
    }
    queryClient.clear();
    // Not the address of the router: it lacks the workspace if the page was opened at an address without one.
    const { pathname, search, hash } = location;
    // In place of the page, because the back button would return to the page, and so to the sign-in again.
    void router.navigate({
      to: '/sign-in',
      search: { to: `${pathname}${search}${hash}` },
      replace: true,
    });
  },
  onWorkspaceLost: reloadPage,
  onUserChanged: reloadPage,
  onRefused: () => void queryClient.invalidateQueries({ queryKey: meQuery.queryKey, exact: true }),
  onConfirmationRequired: askForIdentity,
});

const root = document.getElementById('root');
if (root === null) throw new Error('The document has no element with the id root');
const website = createRoot(root, { onUncaughtError: reportError, onCaughtError: reportError });
const render = () =>
  website.render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={readableColors} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
// The document shows its first content until the page and its user are known. The router shows the errors of both.
void router.load().finally(render);
