import { Alert, Button, List } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { MemberRole } from '@leads/core/credential';
import type { EndpointKind } from '@leads/core/delivery';
import { useQuery } from '@tanstack/react-query';
import { type Endpoint, postbacksQuery, webhooksQuery } from '../api/endpoints.ts';
import { texts } from '../texts/index.ts';
import { AnchorLink } from './links.tsx';

const t = texts.common;
const dayMs = 24 * 60 * 60 * 1000;
/** The interval of the requests, in milliseconds. The pages of endpoints send them more often. */
const refreshMs = 60_000;

/** A webhook or postback that has failed for 24 h, or that the service has disabled. */
interface FailingEndpoint {
  readonly id: string;
  readonly kind: EndpointKind;
  /** The description, or without one the host. */
  readonly name: string;
  readonly state: keyof typeof t.endpointStates;
  /** Differs for each incident of each endpoint. */
  readonly incident: string;
}

const failingOf =
  (kind: EndpointKind) =>
  (endpoints: readonly Endpoint[]): FailingEndpoint[] =>
    endpoints.flatMap(({ id, url, description, disabledReason, disabledAt, failingSince }) => {
      const since = disabledAt ?? failingSince;
      if (since === undefined || disabledReason === 'user') return [];
      if (disabledReason === undefined && Date.now() - Date.parse(since) < dayMs) return [];
      const name = description ?? new URL(url).host;
      return { id, kind, name, state: disabledReason ?? 'enabled', incident: `${id} ${since}` };
    });

const common = { refetchInterval: refreshMs, staleTime: refreshMs };
const queries = {
  webhook: { ...webhooksQuery, ...common, select: failingOf('webhook') },
  postback: { ...postbacksQuery, ...common, select: failingOf('postback') },
};

/** A banner with the failing and disabled webhooks and postbacks, until they recover or the user hides the incidents. */
export function FailingEndpoints({ role }: { role: MemberRole }) {
  const webhooks = useQuery({ ...queries.webhook, enabled: role !== 'publisher' });
  const postbacks = useQuery(queries.postback);
  const [hidden, hide] = useLocalStorage<readonly string[]>({
    key: 'leads.hidden-incidents',
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const failing = [...(webhooks.data ?? []), ...(postbacks.data ?? [])];
  const shown = failing.filter(({ incident }) => !hidden.includes(incident));
  if (shown.length === 0) return null;
  return (
    <Alert color="red" variant="light" mb="md" role="alert" title={t.endpointsFail}>
      <List size="sm" mb="xs">
        {shown.map(({ id, kind, name, state }) => (
          <List.Item key={id}>
            <AnchorLink
              to={kind === 'webhook' ? '/webhooks/$id' : '/postbacks/$id'}
              params={{ id }}
              size="sm"
              c="inherit"
              underline="always"
            >
              {t.endpointName[kind](name)}
            </AnchorLink>
            : {t.endpointStates[state]}
          </List.Item>
        ))}
      </List>
      {/* Incidents that have ended are removed. */}
      <Button size="xs" variant="default" onClick={() => hide(failing.map(({ incident }) => incident))}>
        {t.hide}
      </Button>
    </Alert>
  );
}
