import { Alert, Button, Center, Loader, Stack, Text, Title } from '@mantine/core';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { describeError, isDefect } from './describe-error.ts';
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

/** A query of TanStack Query, of one answer or of pages. */
interface Query {
  readonly data: unknown;
  readonly error: Error | null;
  readonly refetch: () => Promise<unknown>;
}

/**
 * Shows a loader while a query has no data, or its error. Render it above the data, because a failed reload keeps the
 * data.
 */
export function QueryState({ query: { data, error, refetch } }: { query: Query }) {
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  return data === undefined ? <PendingPage /> : null;
}

/** A page that cannot be shown. */
export function ErrorPage({ error: thrown }: ErrorComponentProps) {
  const router = useRouter();
  const error: Error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return (
    <Center mih={240} p="md">
      <ErrorNotice error={error} onRetry={() => void router.invalidate()} />
    </Center>
  );
}

/** Scrolls an error into view, because it may be below the fold of a long form. */
const scrollIntoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

/** An error with the next step. Defects of the page are reported to the log of the service. */
export function ErrorNotice({
  error,
  onRetry,
  onClose,
}: {
  error: Error;
  onRetry?: () => void;
  onClose?: () => void;
}) {
  const { title, sentences } = describeError(error);
  useEffect(() => {
    if (isDefect(error)) reportError(error);
  }, [error]);
  return (
    <Alert
      ref={scrollIntoView}
      color="red"
      variant="light"
      title={title}
      role="alert"
      w="100%"
      {...(onClose !== undefined && {
        withCloseButton: true,
        closeButtonLabel: texts.common.close,
        onClose,
      })}
    >
      <Stack align="flex-start" gap="sm">
        {sentences.map((sentence) => (
          <Text key={sentence} size="sm">
            {sentence}
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
