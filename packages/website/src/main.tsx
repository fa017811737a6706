import { MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError, whenSignedOut } from './api/client.ts';
import { reportError, reportUncaughtErrors } from './report-errors.ts';
import { createAppRouter } from './router.tsx';
import { readableColors, theme } from './theme.ts';
import './website.css';

reportUncaughtErrors();

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

whenSignedOut(() => {
  const { pathname, searchStr } = router.state.location;
  if (pathname === '/sign-in') return;
  queryClient.clear();
  void router.navigate({ to: '/sign-in', search: { to: `${pathname}${searchStr}` } });
});

const root = document.getElementById('root');
if (root === null) throw new Error('The document has no place for the website');
createRoot(root, { onUncaughtError: reportError, onCaughtError: reportError }).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={readableColors} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <ModalsProvider>
          <Notifications position="bottom-center" limit={3} />
          <RouterProvider router={router} />
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
