import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import { notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { meQuery } from './api/account.ts';
import { ApiError, askWithin } from './api/client.ts';
import { reportError, reportUncaughtErrors } from './report-errors.ts';
import { createAppRouter } from './router.tsx';
import { startOver } from './shell/start-over.ts';
import { readableColors, theme } from './theme.ts';
import './website.css';

reportUncaughtErrors();

// What an answer changes is drawn before anything that waits for the answer goes on: by a timer, as is the default,
// a dialog may close and a notification tell of a change while the rows behind still show what was.
notifyManager.setScheduler(queueMicrotask);

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What was refused is refused again; what nobody answered may go better.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      staleTime: 5_000,
    },
  },
});
const router = createAppRouter(queryClient);

askWithin({
  workspaceId: () => queryClient.getQueryData(meQuery.queryKey)?.workspace?.id,
  onSignedOut() {
    const { pathname, searchStr } = router.state.location;
    if (pathname === '/sign-in') return;
    queryClient.clear();
    void router.navigate({ to: '/sign-in', search: { to: `${pathname}${searchStr}` } });
  },
  onOtherWorkspace: startOver,
});

const root = document.getElementById('root');
if (root === null) throw new Error('The document has no place for the website');
createRoot(root, { onUncaughtError: reportError, onCaughtError: reportError }).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={readableColors} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-center" limit={3} />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
