import { createMemoryHistory, createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { expect, test } from 'vitest';
import { searches } from './search-parameters.ts';

/** Returns the parameters that the page of an address gets from the router. */
function searchOf(page: keyof typeof searches, query: string): object {
  const rootRoute = createRootRoute();
  const route = createRoute({
    getParentRoute: () => rootRoute,
    path: '/page',
    validateSearch: searches[page],
  });
  const history = createMemoryHistory({ initialEntries: [`/page?${query}`] });
  const router = createRouter({ routeTree: rootRoute.addChildren([route]), history });
  const [, match] = router.matchRoutes(router.latestLocation);
  return match?.search ?? {};
}

const id = '019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f';

test.for<[page: keyof typeof searches, query: string]>([
  ['overview', 'range=zzz'],
  ['overview', 'from=2026-02-30&to=2026-03-01'],
  ['overview', 'from=2026-03-01'],
  ['overview', 'zone=Nowhere'],
  ['leads', 'status=Foo&source=fax&callbackDue=false&has=name&sort=name'],
  ['leads', 'createdFrom=zzz&createdTo=2026-02-30'],
  ['leads', 'createdFrom=2026-01-31T25:00:00Z&createdTo=1'],
  ['leads', `assignee=zzz&user=${id}0&payment=1&lead=x`],
  ['leads', 's1=%00&country=&phone=1&phone=2'],
  ['leads', 'sort=country'],
  ['leads', 'sort=s1'],
  ['statements', 'range=zzz&user=zzz&campaignCode='],
  ['campaigns', 'user=zzz'],
  ['payments', 'user=zzz'],
  ['deliveries', 'state=toString&statusCode=600&leadId=x&from=2026-02-30T00:00Z&to=2026-01-31'],
  ['developers', 'tab=true'],
  ['profile', 'tab=true'],
  ['signIn', 'to=true&email=true'],
  ['signUp', 'to=true&invitation=true'],
  ['resetPassword', 'token=true'],
  ['verifyEmail', 'token=true'],
])('the page %s does not get invalid parameters from %s', ([page, query]) => {
  expect(searchOf(page, `${query}&unknown=1`)).toEqual({});
});

test('a page gets the valid parameters of its address', () => {
  const leads = {
    createdFrom: '2026-01-31T09:30:00.000Z',
    createdTo: '2026-02-28',
    assignee: id,
    phone: '123',
    callbackDue: 'true',
    sort: '-callbackAt',
  };
  const query = `status=Foo,OnHold,Paid&${new URLSearchParams(leads)}`;
  expect(searchOf('leads', query)).toEqual({ status: 'OnHold,Paid', ...leads });
  // An order by a value needs a filter that selects the leads with a value.
  expect(searchOf('leads', 's1=a&sort=-s1')).toEqual({ s1: 'a', sort: '-s1' });
  expect(searchOf('leads', 'assignee=none&sort=assignee')).toEqual({ assignee: 'none' });
  expect(searchOf('statements', `zone=Europe/Berlin&campaignCode=7&user=${id}`)).toEqual({
    zone: 'Europe/Berlin',
    campaignCode: '7',
    user: id,
  });
  expect(searchOf('payments', `user=${id}`)).toEqual({ user: id });
  const deliveries = { state: 'failed', statusCode: '500', leadId: id, from: '2026-01-31T09:30:00.000Z' };
  expect(searchOf('deliveries', new URLSearchParams(deliveries).toString())).toEqual(deliveries);
});
