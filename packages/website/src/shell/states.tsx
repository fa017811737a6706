import { Alert, Button, Center, Loader, Stack, Text, Title } from '@mantine/core';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '../api/client.ts';
import { ButtonLink } from './links.tsx';
import { reportError } from '../report-errors.ts';
import * as texts from '../texts/index.ts';
import { useTitle } from './use-title.ts';

export function PendingPage() {
  return (
    <Center mih={240}>
      <Loader />
    </Center>
  );
}

export function NotFoundPage() {
  useTitle(texts.common.notFound);
  return (
    <Center mih="60vh" component="main">
      <Stack align="center">
        <Title order={1} size="h2">
          {texts.common.notFound}
        </Title>
        <ButtonLink to="/overview">{texts.common.backHome}</ButtonLink>
      </Stack>
    </Center>
  );
}

/** A page that cannot be shown. Errors that the service did not send are reported to its log. */
export function ErrorPage({ error: thrown }: ErrorComponentProps) {
  const router = useRouter();
  const error: Error = thrown instanceof Error ? thrown : new Error(String(thrown));
  useEffect(() => {
    if (!(thrown instanceof ApiError)) reportError(thrown);
  }, [thrown]);
  return (
    <Center mih={240} p="md">
      <ErrorNotice error={error} onRetry={() => void router.invalidate()} />
    </Center>
  );
}

/** Returns a sentence for each rejected field, such as "Phone must not be empty". Empty for any other error. */
function reasonsOf(error: Error): readonly string[] {
  if (!(error instanceof ApiError)) return [];
  return error.fields.map(({ field, reason }) => sentence(`${wordsOf(field)} ${reason}`.trim()));
}

/** Returns the words of the name of a field: "allowed origins" for `allowedOrigins`. */
const wordsOf = (field: string) => field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

/** Scrolls an error into view, because it may be below the fold of a long form. */
const scrollIntoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

/** An error with the next step. Rejected input is described by its fields, not by the message of the API. */
export function ErrorNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const reasons = reasonsOf(error);
  return (
    <Alert
      ref={scrollIntoView}
      color="red"
      variant="light"
      title={reasons.length > 0 ? texts.common.correctInput : texts.common.somethingWrong}
      role="alert"
      w="100%"
    >
      <Stack align="flex-start" gap="sm">
        {(reasons.length > 0 ? reasons : [error.message]).map((reason) => (
          <Text key={reason} size="sm">
            {reason}
          </Text>
        ))}
        {onRetry !== undefined && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {texts.common.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
