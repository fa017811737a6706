import type { FirstSteps as Steps } from '@leads/core/workspace';
import { Alert, Button, Group, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { createApiKey, credentialsKey, type MadeCredential } from '../../api/credentials.ts';
import { firstStepsQuery, hiddenKeyOf, isOpen } from '../../api/first-steps.ts';
import { tryIntake } from '../../api/try-lead.ts';
import { CodeBlock } from '../../examples/code-block.tsx';
import { exampleLead, intakeRequest, mask } from '../../examples/example-request.ts';
import { writeSnippet } from '../../examples/snippets.ts';
import { CopyTextButton } from '../../shell/copy-text-button.tsx';
import { IconCircle, IconCircleCheck } from '../../shell/icons.tsx';
import { focusPage } from '../../shell/focus-page.ts';
import { ButtonLink } from '../../shell/links.tsx';
import { SecretDialog, secretMutation } from '../../shell/secret-dialog.tsx';
import { ErrorNotice } from '../../shell/states.tsx';
import { firstSteps as t } from '../../texts/first-steps.ts';

const names = ['apiKey', 'lead', 'landingPage', 'invitation'] as const;
const targets = {
  lead: { to: '/developers', search: { tab: 'examples' } },
  landingPage: { to: '/campaigns' },
  invitation: { to: '/members' },
} as const;

/** The first steps of a new user. The stored data tick them. They disappear when all are done. */
export function FirstSteps() {
  const { data: me } = useSuspenseQuery(meQuery);
  const queryClient = useQueryClient();
  const hiddenKey = hiddenKeyOf(me);
  const [isHidden, setHidden] = useState(() => localStorage.getItem(hiddenKey) !== null);
  const { data } = useQuery({ ...firstStepsQuery, enabled: !isHidden });
  const [made, setMade] = useState<MadeCredential>();
  const create = useMutation({
    ...secretMutation,
    mutationFn: () => createApiKey({ name: t.keyName, scope: 'intake' }),
    onSuccess(created) {
      setMade(created);
      void queryClient.invalidateQueries({ queryKey: firstStepsQuery.queryKey });
      void queryClient.invalidateQueries({ queryKey: credentialsKey });
    },
  });
  const hide = () => {
    localStorage.setItem(hiddenKey, '1');
    setHidden(true);
    focusPage();
  };
  const isShown = data !== undefined && isOpen(data) && !isHidden;
  return (
    <>
      {isShown && (
        <Checklist
          steps={data}
          isCreating={create.isPending}
          onCreate={() => create.mutate()}
          onHide={hide}
        />
      )}
      {create.isError && <ErrorNotice error={create.error} />}
      {/* Outside of the list: the last step can be done while the key is shown. */}
      <NewKey made={made} onClose={() => setMade(undefined)} />
    </>
  );
}

function Checklist({
  steps,
  isCreating,
  onCreate,
  onHide,
}: {
  steps: Steps;
  isCreating: boolean;
  onCreate: () => void;
  onHide: () => void;
}) {
  const shown = names.filter((name) => steps[name] !== undefined);
  const done = shown.filter((name) => steps[name] === true).length;
  return (
    <Paper component="section" withBorder p="md" aria-label={t.title}>
      <Group justify="space-between" align="flex-start" wrap="nowrap" mb="sm">
        <div>
          <Title order={2} size="h4">
            {t.title}
          </Title>
          <Text size="sm" c="dimmed">
            <Text span size="sm" role="status">
              {t.progress(done, shown.length)}
            </Text>{' '}
            {t.lead}
          </Text>
        </div>
        <Button variant="default" size="xs" aria-label={t.hideLabel} flex="none" onClick={onHide}>
          {t.hide}
        </Button>
      </Group>
      <Stack component="ol" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
        {shown.map((name) => {
          const isDone = steps[name] === true;
          const { title, lead, action } = t.steps[name];
          return (
            <Group component="li" key={name} gap="sm" justify="space-between" mih={36}>
              <Group gap="sm" wrap="nowrap" flex="1 1 240px">
                {isDone ? (
                  <IconCircleCheck size={22} color="var(--mantine-color-green-6)" aria-hidden />
                ) : (
                  <IconCircle size={22} color="var(--mantine-color-dimmed)" aria-hidden />
                )}
                <div>
                  <Text size="sm" fw={600}>
                    {isDone && <VisuallyHidden>{t.done} </VisuallyHidden>}
                    {title}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {lead}
                  </Text>
                </div>
              </Group>
              {!isDone &&
                (name === 'apiKey' ? (
                  <Button size="xs" loading={isCreating} onClick={onCreate}>
                    {action}
                  </Button>
                ) : (
                  <ButtonLink size="xs" variant="default" {...targets[name]}>
                    {action}
                  </ButtonLink>
                ))}
            </Group>
          );
        })}
      </Stack>
    </Paper>
  );
}

/** Shows the new key once, with an example that is ready to run, and sends a lead with it. */
function NewKey({ made, onClose }: { made: MadeCredential | undefined; onClose: () => void }) {
  const { intake } = useSuspenseQuery(meQuery).data.addresses;
  const queryClient = useQueryClient();
  const send = useMutation({
    mutationFn: (request: () => ReturnType<typeof tryIntake>) => request(),
    gcTime: 0,
    onSuccess: () => queryClient.invalidateQueries(),
  });
  const secret = made?.secret ?? '';
  const example = (apiKey: string) =>
    writeSnippet('curl', intakeRequest(intake ?? '', { apiKey }, exampleLead));
  const status = send.data?.status;
  return (
    <SecretDialog shown={made && { ...made, title: t.keyTitle }} onClose={onClose}>
      {intake !== undefined && (
        <>
          <Text size="sm">{t.example}</Text>
          <CodeBlock label={t.exampleLabel}>{example(mask(secret))}</CodeBlock>
          <Group gap="xs">
            <Button
              variant="default"
              loading={send.isPending}
              disabled={status === 200}
              onClick={() => send.mutate(() => tryIntake(secret, undefined, exampleLead))}
            >
              {t.sendTest}
            </Button>
            <CopyTextButton text={example(secret)} label={t.copyExample} size="sm" />
          </Group>
          {send.isError && <ErrorNotice error={send.error} />}
          {status !== undefined && (
            <Alert color={status === 200 ? 'green' : 'red'} variant="light" role="status">
              {status === 200 ? t.sent : t.notSent(status)}
            </Alert>
          )}
        </>
      )}
    </SecretDialog>
  );
}
