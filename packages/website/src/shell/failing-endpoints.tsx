import { Alert, Button, List } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { FailingEndpoint } from '@leads/core/delivery';
import { useQuery } from '@tanstack/react-query';
import { failingEndpointsQuery } from '../api/endpoints.ts';
import { workspaceOfPage } from '../api/workspace-address.ts';
import * as texts from '../texts/index.ts';
import { focusPage } from './focus-page.ts';
import { AnchorLink } from './links.tsx';

const t = texts.common;

/** Differs for each incident of each endpoint. */
const incidentOf = ({ id, since }: FailingEndpoint) => `${id} ${since}`;

/** A banner with the failing and disabled webhooks and postbacks, until they recover or the user hides the incidents. */
export function FailingEndpoints() {
  const { data: failing = [] } = useQuery(failingEndpointsQuery);
  const [hidden, hide] = useLocalStorage<readonly string[]>({
    key: `leads.hidden-incidents.${workspaceOfPage() ?? ''}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const shown = failing.filter((endpoint) => !hidden.includes(incidentOf(endpoint)));
  if (shown.length === 0) return null;
  return (
    <Alert color="red" variant="light" mb="md" role="alert" title={t.endpointsFail}>
      <List size="sm" mb="xs">
        {shown.map(({ id, kind, name, disabledReason }) => (
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
            : {t.endpointStates[disabledReason ?? 'enabled']}
          </List.Item>
        ))}
      </List>
      {/* Incidents that have ended are removed. */}
      <Button
        size="xs"
        variant="default"
        onClick={() => {
          hide(failing.map(incidentOf));
          focusPage();
        }}
      >
        {t.hide}
      </Button>
    </Alert>
  );
}
