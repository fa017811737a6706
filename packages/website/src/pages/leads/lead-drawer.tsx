import type { LeadDetail, LeadHistoryEntry, LeadPatch } from '@leads/core/lead';
import {
  ActionIcon,
  Alert,
  Button,
  Code,
  CopyButton,
  Drawer,
  Group,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
  Tooltip,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type ChangeEvent, type ReactNode, useCallback, useLayoutEffect, useRef, useState } from 'react';
import type { Me } from '@leads/core/account';
import { ApiError, fieldErrorsOf } from '../../api/client.ts';
import { editLead, type LeadVersion, leadHistoryQuery, leadQuery } from '../../api/leads.ts';
import { membersQuery } from '../../api/members.ts';
import { ConfirmDialog } from '../../shell/confirm-dialog.tsx';
import { keepFocus } from '../../shell/keep-focus.ts';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { exactTime } from '../../shell/time.ts';
import { useFocusBack } from '../../shell/use-focus-back.ts';
import { usePreventReload } from '../../shell/use-prevent-reload.ts';
import { endpoints } from '../../texts/endpoints.ts';
import { texts } from '../../texts/index.ts';
import { type ContactField, contactFields, optionalFields } from './contact-fields.ts';
import { LeadDeliveries } from './lead-deliveries.tsx';
import { PendingStatus, StatusBadge } from './lead-row.tsx';
import type { LeadSearch } from './lead-search.ts';
import { nextStatuses } from './lead-status.ts';
import classes from './leads.module.css';
import { updateListed } from './use-lead-list.ts';
import type { StatusChanges } from './use-status-changes.tsx';

const t = texts.leads;

/** Shows all fields of a lead, with a form for those that can be edited. */
export function LeadDrawer({
  id,
  me,
  statusChanges,
  onOpen,
  onClose,
}: {
  id: string;
  me: Me;
  statusChanges: StatusChanges;
  onOpen: (id: string) => void;
  onClose: () => void;
}) {
  useFocusBack();
  const found = useQuery(leadQuery(id));
  const isEdited = useRef(false);
  const setEdited = useCallback((value: boolean) => {
    isEdited.current = value;
  }, []);
  // Esc, the back button and links ask before they discard edits.
  const leaving = useBlocker({
    shouldBlockFn: ({ next }) => isEdited.current && (next.search as LeadSearch).lead !== id,
    enableBeforeUnload: () => isEdited.current,
    withResolver: true,
  });
  return (
    <>
      <Drawer
        ref={keepFocus}
        opened
        onClose={onClose}
        position="right"
        closeOnEscape={!statusChanges.isDialogOpen && leaving.status === 'idle'}
        size="lg"
        title={<Text fw={600}>{t.detail}</Text>}
        closeButtonProps={{ 'aria-label': texts.common.close }}
      >
        {found.data !== undefined ? (
          <Detail
            key={id}
            found={found.data}
            me={me}
            statusChanges={statusChanges}
            onOpen={onOpen}
            onEdited={setEdited}
          />
        ) : found.isError ? (
          found.error instanceof ApiError && found.error.status === 404 ? (
            <Text>{t.notFound}</Text>
          ) : (
            <ErrorNotice error={found.error} onRetry={() => void found.refetch()} />
          )
        ) : (
          <PendingPage />
        )}
      </Drawer>
      {leaving.status === 'blocked' && (
        <ConfirmDialog
          title={t.discardTitle}
          action={t.discard}
          onConfirm={async () => leaving.proceed()}
          onClose={leaving.reset}
        >
          <Text size="sm">{t.discardLead}</Text>
        </ConfirmDialog>
      )}
    </>
  );
}

function Detail({
  found,
  me,
  statusChanges,
  onOpen,
  onEdited,
}: {
  found: LeadVersion;
  me: Me;
  statusChanges: StatusChanges;
  onOpen: (id: string) => void;
  onEdited: (isEdited: boolean) => void;
}) {
  const { lead } = found;
  const pending = statusChanges.pending.get(lead.id);
  const heading = useRef<HTMLHeadingElement>(null);
  const role = me.workspace?.role ?? 'publisher';
  const { data: members = [] } = useQuery({ ...membersQuery, enabled: role !== 'publisher' });
  const nameOf = (userId: string) =>
    userId === me.user.id
      ? t.you
      : (members.find((member) => member.userId === userId)?.name ?? `${userId.slice(0, 8)}…`);
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group gap="sm">
          <Title ref={heading} tabIndex={-1} order={2} size="h4" className={classes['wrap']} dir="auto">
            {lead.name}
          </Title>
          {pending === undefined ? <StatusBadge status={lead.status} /> : <PendingStatus status={pending} />}
        </Group>
        <Group gap="xs">
          {nextStatuses(lead.status, role).map((to) => (
            <Button
              key={to}
              size="compact-sm"
              variant="default"
              onClick={() => {
                // The button disappears with the current status.
                heading.current?.focus();
                statusChanges.change([lead], to);
              }}
            >
              {t.markAs(t.statuses[to])}
            </Button>
          ))}
        </Group>
      </Stack>
      <ContactForm found={found} onEdited={onEdited} />
      <Section title={t.about}>
        <Fact label={t.id} value={lead.id} isCopied />
        <Fact label={t.phoneE164} value={lead.phoneE164} isCopied />
        <Fact label={t.campaign} value={lead.campaignCode} />
        <Fact label={t.source} value={t.sources[lead.source]} />
        <Fact label={t.owner} value={nameOf(lead.userId)} />
        <Fact label={t.created} value={exactTime(lead.createdAt)} />
        <Fact label={t.updated} value={exactTime(lead.updatedAt)} />
        {lead.duplicateOf !== undefined && (
          <Group gap="xs">
            <Fact label={t.duplicateOf} value={lead.duplicateOf} isCopied />
            <Button
              size="compact-sm"
              variant="light"
              onClick={() => lead.duplicateOf !== undefined && onOpen(lead.duplicateOf)}
            >
              {t.openOriginal}
            </Button>
          </Group>
        )}
      </Section>
      <Section title={t.raw}>
        <Fact label={t.s1} value={lead.s1} isCopied />
        <Fact label={t.lpName} value={lead.lpName} isCopied />
        <Fact label={t.ip} value={lead.ip} isCopied />
        {lead.extra !== undefined && (
          <Code block className={classes['json']}>
            {JSON.stringify(lead.extra, null, 2)}
          </Code>
        )}
        {lead.extra === undefined && lead.s1 === undefined && lead.lpName === undefined && (
          <Text size="sm" c="dimmed">
            {t.noRaw}
          </Text>
        )}
      </Section>
      <Section title={endpoints.deliveries}>
        <LeadDeliveries id={lead.id} status={lead.status} />
      </Section>
      <Section title={t.history}>
        <History id={lead.id} nameOf={nameOf} />
      </Section>
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="xs" component="section">
      <Title order={3} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function Fact({
  label,
  value,
  isCopied = false,
}: {
  label: string;
  value: string | undefined;
  isCopied?: boolean;
}) {
  if (value === undefined) return null;
  return (
    <Group gap="xs" wrap="nowrap" align="center">
      <Text size="sm" c="dimmed" w={110} flex="none">
        {label}
      </Text>
      <Text size="sm" className={classes['wrap']} dir="auto">
        {value}
      </Text>
      {isCopied && <Copy value={value} label={label} />}
    </Group>
  );
}

function Copy({ value, label }: { value: string; label: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? texts.common.copied : t.copy(label)}>
          <ActionIcon
            size="sm"
            variant="subtle"
            aria-label={copied ? texts.common.copied : t.copy(label)}
            onClick={copy}
          >
            {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

type Contact = Record<ContactField, string>;

const contactOf = (lead: LeadDetail) =>
  Object.fromEntries(contactFields.map((name) => [name, lead[name] ?? ''])) as Contact;

/** The form for an edit. It sends the version that was edited, so that no concurrent change is lost. */
function ContactForm({ found, onEdited }: { found: LeadVersion; onEdited: (isEdited: boolean) => void }) {
  const queryClient = useQueryClient();
  const [edits, setEdits] = useState<Partial<Contact>>({});
  const [held, setHeld] = useState(found);
  const [faults, setFaults] = useState<Partial<Contact>>({});
  const isDirty = Object.keys(edits).length > 0;
  // A layout effect, because the next key can be Esc.
  useLayoutEffect(() => {
    onEdited(isDirty);
    return () => onEdited(false);
  }, [isDirty, onEdited]);
  usePreventReload(isDirty);
  // Without edits, the form shows the latest version.
  const base = isDirty ? held : found;
  const before = contactOf(base.lead);
  const values = { ...before, ...edits };
  const { id } = found.lead;

  const fieldProps = (name: ContactField) => ({
    label: t.fields[name],
    dir: 'auto',
    value: values[name],
    error: faults[name],
    onChange(event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) {
      const { value } = event.currentTarget;
      const { [name]: _before, ...others } = edits;
      if (!isDirty) setHeld(found);
      setEdits(value === before[name] ? others : { ...others, [name]: value });
      setFaults({ ...faults, [name]: undefined });
    },
  });

  const save = useMutation({
    mutationFn: (patch: LeadPatch) => editLead({ id, etag: base.etag, patch }),
    onSuccess(version) {
      queryClient.setQueryData(leadQuery(id).queryKey, version);
      void queryClient.invalidateQueries({ queryKey: leadHistoryQuery(id).queryKey });
      updateListed(queryClient, (lead) => (lead.id === id ? version.lead : lead));
      setEdits({});
      notifications.show({ message: t.saved });
    },
    onError: (error) => setFaults(fieldErrorsOf(error)),
  });
  const reload = useMutation({
    mutationFn: () => queryClient.fetchQuery({ ...leadQuery(id), staleTime: 0 }),
    onSuccess(version) {
      setHeld(version);
      updateListed(queryClient, (lead) => (lead.id === id ? version.lead : lead));
      save.reset();
    },
  });
  const isConflict = save.error instanceof ApiError && save.error.status === 412;

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(edits);
      }}
    >
      <Section title={t.contact}>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <TextInput
            required
            rightSection={<Copy value={values.name} label={t.fields.name} />}
            {...fieldProps('name')}
          />
          <TextInput
            required
            rightSection={<Copy value={values.phone} label={t.fields.phone} />}
            {...fieldProps('phone')}
          />
          {optionalFields.map((name) => (
            <TextInput
              key={name}
              {...(name === 'email' && { placeholder: t.emailHint })}
              {...fieldProps(name)}
            />
          ))}
        </SimpleGrid>
        <Textarea autosize maxRows={6} {...fieldProps('description')} />
        {isConflict ? (
          <Alert color="yellow" role="alert" title={t.conflict}>
            <Stack align="flex-start" gap="xs">
              <Text size="sm">{t.reloadHint}</Text>
              <Button size="xs" variant="default" loading={reload.isPending} onClick={() => reload.mutate()}>
                {t.reload}
              </Button>
            </Stack>
          </Alert>
        ) : (
          save.isError && <ErrorNotice error={save.error} />
        )}
        <Group>
          <Button type="submit" size="xs" loading={save.isPending} disabled={!isDirty}>
            {texts.common.save}
          </Button>
        </Group>
      </Section>
    </form>
  );
}

function History({ id, nameOf }: { id: string; nameOf: (userId: string) => string }) {
  const history = useQuery(leadHistoryQuery(id));
  if (history.isError) {
    return <ErrorNotice error={history.error} onRetry={() => void history.refetch()} />;
  }
  if (history.data === undefined) return <PendingPage />;
  return (
    <Stack gap="xs" component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
      {history.data.toReversed().map((entry) => (
        <li key={entry.version}>
          <Text size="sm">{describe(entry, nameOf(entry.userId))}</Text>
          {entry.reason !== undefined && (
            <Text size="sm" className={classes['wrap']}>
              “{entry.reason}”
            </Text>
          )}
          {Object.entries(entry.fields ?? {}).map(([name, { from, to }]) => (
            <Text key={name} size="xs" className={classes['wrap']}>
              {t.fieldChange(labelOf(name), valueOf(from), valueOf(to))}
            </Text>
          ))}
          <Text size="xs" c="dimmed">
            {exactTime(entry.createdAt)}
          </Text>
        </li>
      ))}
    </Stack>
  );
}

function describe({ type, from, to }: LeadHistoryEntry, userName: string): string {
  if (from !== undefined && to !== undefined) {
    return t.events.statusChanged(userName, t.statuses[from], t.statuses[to]);
  }
  return type === 'created' ? t.events.created(userName) : t.events.updated(userName);
}

function labelOf(field: string): string {
  return contactFields.some((name) => name === field) ? t.fields[field as ContactField] : field;
}

function valueOf(value: unknown): string {
  if (value === undefined) return t.nothing;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
