import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  parseSearchWith,
  redirect,
  stringifySearchWith,
} from '@tanstack/react-router';
import { meQuery } from './api/account.ts';
import { ApiError } from './api/api-error.ts';
import {
  adoptWorkspace,
  browserAddress,
  workspaceOfPage,
  workspaceRewrite,
} from './api/workspace-address.ts';
import { viewsQuery } from './api/views.ts';
import { filtersOf, readLeadSearch } from './leads/lead-search.ts';
import { searches } from './search-parameters.ts';
import { lazyPage } from './shell/lazy-part.tsx';
import { ErrorPage, NotFoundPage, PendingPage } from './shell/states.tsx';
import { WebsiteLayout } from './shell/website-layout.tsx';

const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

const console = createRoute({
  getParentRoute: () => rootRoute,
  id: 'console',
  component: WebsiteLayout,
  async beforeLoad({ context, location }) {
    try {
      const { workspace } = await context.queryClient.ensureQueryData(meQuery);
      if (workspace === undefined || workspaceOfPage() !== undefined) return;
      // An address without a workspace, such as that of an old link, is for the workspace that was opened last.
      adoptWorkspace(workspace.slug);
      history.replaceState(history.state, '', browserAddress(location.href));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      redirect({ to: '/sign-in', search: { to: location.publicHref }, throw: true });
    }
  },
});

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad() {
    redirect({ to: '/overview', throw: true });
  },
});
const overview = createRoute({
  getParentRoute: () => console,
  path: '/overview',
  validateSearch: searches.overview,
  component: lazyPage(async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage),
});
const leads = createRoute({
  getParentRoute: () => console,
  path: '/leads',
  validateSearch: searches.leads,
  async beforeLoad({ cause, search: given, context }): Promise<void> {
    const search = readLeadSearch(given);
    // A view whose filters the user removes while the page is open stays without filters.
    if (cause !== 'enter' || search.view === undefined || Object.keys(filtersOf(search)).length > 0) return;
    const views = await context.queryClient.ensureQueryData(viewsQuery);
    const view = views.find(({ id }) => id === search.view);
    const filters = readLeadSearch({ ...view?.filters, sort: view?.sort });
    if (Object.keys(filters).length === 0) return;
    redirect({ to: '/leads', search: { ...filters, ...search }, replace: true, throw: true });
  },
  component: lazyPage(async () => (await import('./pages/leads/leads-page.tsx')).LeadsPage),
});
const campaigns = createRoute({
  getParentRoute: () => console,
  path: '/campaigns',
  validateSearch: searches.campaigns,
  component: lazyPage(async () => (await import('./pages/campaigns/campaigns-page.tsx')).CampaignsPage),
});
const campaign = createRoute({
  getParentRoute: () => console,
  path: '/campaigns/$id',
  component: lazyPage(async () => (await import('./pages/campaigns/campaign-page.tsx')).CampaignPage),
});
const statements = createRoute({
  getParentRoute: () => console,
  path: '/statements',
  validateSearch: searches.statements,
  component: lazyPage(async () => (await import('./pages/statements/statements-page.tsx')).StatementsPage),
});
const payments = createRoute({
  getParentRoute: () => console,
  path: '/payments',
  validateSearch: searches.payments,
  component: lazyPage(async () => (await import('./pages/payments/payments-page.tsx')).PaymentsPage),
});
const payment = createRoute({
  getParentRoute: () => console,
  path: '/payments/$id',
  component: lazyPage(async () => (await import('./pages/payments/payment-page.tsx')).PaymentPage),
});
const members = createRoute({
  getParentRoute: () => console,
  path: '/members',
  component: lazyPage(async () => (await import('./pages/members/members-page.tsx')).MembersPage),
});
const integrations = createRoute({
  getParentRoute: () => console,
  path: '/integrations',
  component: lazyPage(
    async () => (await import('./pages/integrations/integrations-page.tsx')).IntegrationsPage,
  ),
});
const webhook = createRoute({
  getParentRoute: () => console,
  path: '/webhooks/$id',
  validateSearch: searches.deliveries,
  component: lazyPage(async () => (await import('./pages/integrations/endpoint-page.tsx')).WebhookPage),
});
const postback = createRoute({
  getParentRoute: () => console,
  path: '/postbacks/$id',
  validateSearch: searches.deliveries,
  component: lazyPage(async () => (await import('./pages/integrations/endpoint-page.tsx')).PostbackPage),
});
const audit = createRoute({
  getParentRoute: () => console,
  path: '/audit',
  component: lazyPage(async () => (await import('./pages/audit/audit-page.tsx')).AuditPage),
});
const developers = createRoute({
  getParentRoute: () => console,
  path: '/developers',
  validateSearch: searches.developers,
  component: lazyPage(async () => (await import('./pages/developers/developers-page.tsx')).DevelopersPage),
});
const profile = createRoute({
  getParentRoute: () => console,
  path: '/profile',
  validateSearch: searches.profile,
  component: lazyPage(async () => (await import('./pages/profile/profile-page.tsx')).ProfilePage),
});

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searches.signIn,
  component: lazyPage(async () => (await import('./pages/account/sign-in-page.tsx')).SignInPage),
});
const signUp = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  validateSearch: searches.signUp,
  component: lazyPage(async () => (await import('./pages/account/sign-up-page.tsx')).SignUpPage),
});
const forgotPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgot-password',
  component: lazyPage(
    async () => (await import('./pages/account/forgot-password-page.tsx')).ForgotPasswordPage,
  ),
});
const resetPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  validateSearch: searches.resetPassword,
  component: lazyPage(
    async () => (await import('./pages/account/reset-password-page.tsx')).ResetPasswordPage,
  ),
});
const verifyEmail = createRoute({
  getParentRoute: () => rootRoute,
  path: '/verify-email',
  validateSearch: searches.verifyEmail,
  component: lazyPage(async () => (await import('./pages/account/verify-email-page.tsx')).VerifyEmailPage),
});
const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitations/$id',
  component: lazyPage(async () => (await import('./pages/account/invitation-page.tsx')).InvitationPage),
});
const integration = createRoute({
  getParentRoute: () => rootRoute,
  path: '/integration/$token',
  component: lazyPage(async () => (await import('./pages/integration/integration-page.tsx')).IntegrationPage),
});

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree: rootRoute.addChildren([
      home,
      console.addChildren([
        overview,
        leads,
        campaigns,
        campaign,
        statements,
        payments,
        payment,
        members,
        integrations,
        webhook,
        postback,
        audit,
        developers,
        profile,
      ]),
      signIn,
      signUp,
      forgotPassword,
      resetPassword,
      verifyEmail,
      invitation,
      integration,
    ]),
    context: { queryClient },
    rewrite: workspaceRewrite,
    // Search parameters are plain text, not JSON, so that a phone number is not quoted.
    parseSearch: parseSearchWith((text) => text),
    stringifySearch: stringifySearchWith(JSON.stringify),
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: ErrorPage,
    defaultPendingComponent: PendingPage,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
