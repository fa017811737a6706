import { Alert, Anchor, Button, List } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { MemberRole } from '@leads/core/credential';
import { useQuery } from '@tanstack/react-query';
import { type FailingEndpoint, failingEndpointsQuery } from '../api/failing-endpoints.ts';
import { texts } from '../texts/index.ts';

const t = texts.common;

const incidentOf = ({ id, since }: FailingEndpoint) => `${id} ${since}`;

/** A banner with the failing and disabled webhooks and postbacks, until they recover or the user hides the incidents. */
export function FailingEndpoints({ role }: { role: MemberRole }) {
  const webhooks = useQuery({ ...failingEndpointsQuery('webhook'), enabled: role !== 'publisher' });
  const postbacks = useQuery(failingEndpointsQuery('postback'));
  const [hidden, hide] = useLocalStorage<readonly string[]>({
    key: 'leads.hidden-incidents',
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const failing = [...(webhooks.data ?? []), ...(postbacks.data ?? [])];
  const shown = failing.filter((endpoint) => !hidden.includes(incidentOf(endpoint)));
  if (shown.length === 0) return null;
  return (
    <Alert color="red" variant="light" mb="md" role="alert" title={t.endpointsFail}>
      <List size="sm" mb="xs">
        {shown.map((endpoint) => (
          <List.Item key={endpoint.id}>
            <Anchor href={`/${endpoint.kind}s/${endpoint.id}`} size="sm" c="inherit" underline="always">
              {t.endpointName[endpoint.kind](endpoint.name)}
            </Anchor>
            : {t.endpointStates[endpoint.disabledReason ?? 'enabled']}
          </List.Item>
        ))}
      </List>
      {/* Incidents that have ended are removed. */}
      <Button size="xs" variant="default" onClick={() => hide(failing.map(incidentOf))}>
        {t.hide}
      </Button>
    </Alert>
  );
}
