import type { LeadDetail, LeadPatch } from '@leads/core/lead';
import { Alert, Button, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import {
  editLead,
  getLead,
  type LeadVersion,
  leadHistoryQuery,
  leadNameQuery,
  leadQuery,
} from '../../api/leads.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { usePreventReload } from '../../shell/use-prevent-reload.ts';
import * as texts from '../../texts/index.ts';
import { type ContactField, contactFields, optionalFields } from '../../leads/contact-fields.ts';
import { Copy, Fact, Section } from './panel-parts.tsx';
import { useUnsaved } from './unsaved-edits.tsx';
import { updateListed } from './use-lead-list.ts';

const t = texts.leads;

type Contact = Record<ContactField, string>;

const contactOf = (lead: LeadDetail) =>
  Object.fromEntries(contactFields.map((name) => [name, lead[name] ?? ''])) as Contact;

const hasSameContact = (a: LeadDetail, b: LeadDetail) =>
  contactFields.every((name) => (a[name] ?? '') === (b[name] ?? ''));

/** The contact data that a lead has. A button shows the form, which also has the empty fields. */
export function LeadContact({ found }: { found: LeadVersion }) {
  const [isOpen, setOpen] = useState(false);
  const [isDirty, setDirty] = useState(false);
  useUnsaved('contact', isDirty);
  usePreventReload(isDirty);
  const contact = contactOf(found.lead);
  return (
    <Section
      title={t.contact}
      action={
        <Button
          size="compact-sm"
          variant="default"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen || isDirty)}
        >
          {t.edit}
        </Button>
      }
    >
      {isOpen ? (
        <ContactForm found={found} isDirty={isDirty} onDirty={setDirty} />
      ) : (
        contactFields
          .filter((name) => contact[name] !== '' && name !== 'name' && name !== 'phone')
          .map((name) => <Fact key={name} label={t.fields[name]} value={contact[name]} isCopied />)
      )}
    </Section>
  );
}

/** The form for an edit. It sends the version that was edited, so that no concurrent change is lost. */
function ContactForm({
  found,
  isDirty,
  onDirty,
}: {
  found: LeadVersion;
  isDirty: boolean;
  onDirty: (isDirty: boolean) => void;
}) {
  const queryClient = useQueryClient();
  const [edits, setEdits] = useState<Partial<Contact>>({});
  const [held, setHeld] = useState(found);
  const [faults, setFaults] = useState<Partial<Contact>>({});
  // Without edits, the form shows the latest version.
  const base = isDirty ? held : found;
  const before = contactOf(base.lead);
  const values = { ...before, ...edits };
  const { id } = found.lead;
  const change = (next: Partial<Contact>) => {
    setEdits(next);
    onDirty(Object.keys(next).length > 0);
  };

  const fieldProps = (name: ContactField) => ({
    label: t.fields[name],
    dir: 'auto',
    value: values[name],
    error: faults[name],
    onChange(event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) {
      const { value } = event.currentTarget;
      const { [name]: _before, ...others } = edits;
      if (!isDirty) setHeld(found);
      change(value === before[name] ? others : { ...others, [name]: value });
      setFaults({ ...faults, [name]: undefined });
    },
  });

  const save = useMutation({
    async mutationFn(patch: LeadPatch) {
      try {
        return await editLead({ id, etag: base.etag, patch });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412) throw error;
        // A status, an assignee or a note is no conflict with an edit of the contact data.
        // Not by the query of the panel, which cancels its request when the panel shows another lead.
        const now = await getLead(id);
        if (!hasSameContact(now.lead, base.lead)) throw error;
        return editLead({ id, etag: now.etag, patch });
      }
    },
    onSuccess(version, patch) {
      queryClient.setQueryData(leadQuery(id).queryKey, version);
      queryClient.setQueryData(leadNameQuery(id).queryKey, version.lead.name);
      void queryClient.invalidateQueries({ queryKey: leadHistoryQuery(id).queryKey });
      updateListed(queryClient, (lead) => (lead.id === id ? version.lead : lead));
      // The edits that the user has made during the request stay.
      setHeld(version);
      const left = Object.entries(edits).filter(([name, value]) => value !== patch[name as ContactField]);
      change(Object.fromEntries(left));
      notifications.show({ message: t.saved });
    },
    onError: (error) => setFaults(fieldErrorsOf(error)),
  });
  const reload = useMutation({
    mutationFn: () => getLead(id),
    onSuccess(version) {
      queryClient.setQueryData(leadQuery(id).queryKey, version);
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
      <Stack gap="xs">
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
      </Stack>
    </form>
  );
}
