import type { LeadNote } from '@leads/core/lead';
import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { addNote, leadNotesQuery } from '../../api/lead-work.ts';
import { leadQuery } from '../../api/leads.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { exactTime } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';
import classes from './leads.module.css';
import { Section } from './panel-parts.tsx';
import { useUnsaved } from './unsaved-edits.tsx';

const t = texts.leads;

/** The notes of a lead in threads, the newest thread first, and a form that adds one. */
export function LeadNotes({ id }: { id: string }) {
  const queryClient = useQueryClient();
  const notes = useQuery(leadNotesQuery(id));
  const [text, setText] = useState('');
  const [replyTo, setReplyTo] = useState<LeadNote>();
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useUnsaved('note', text.trim() !== '');
  const add = useMutation({
    mutationFn: (sent: { text: string; replyTo: LeadNote | undefined }) =>
      addNote(id, {
        text: sent.text.trim(),
        ...(sent.replyTo !== undefined && { parentId: sent.replyTo.id }),
      }),
    onSuccess(_note, sent) {
      // The user may have started the next note, or have left the form.
      setText((now) => (now === sent.text ? '' : now));
      setReplyTo((now) => (now === sent.replyTo ? undefined : now));
      const { activeElement: focused } = document;
      // The button loses the focus to the panel or to the page when its request disables it.
      if (form.current?.contains(focused) || focused?.contains(form.current)) field.current?.focus();
      // The note is an entry of the history, and the lead has a new version. The next note need not wait for either.
      void queryClient.invalidateQueries({ queryKey: leadQuery(id).queryKey });
    },
  });
  const submit = () => {
    if (text.trim() !== '' && !add.isPending) add.mutate({ text, replyTo });
  };
  const all = notes.data ?? [];
  return (
    <Section title={t.notes}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="xs" align="flex-start">
          <Textarea
            ref={field}
            w="100%"
            size="xs"
            autosize
            minRows={2}
            maxRows={8}
            dir="auto"
            label={replyTo === undefined ? t.newNote : t.replyTo(replyTo.author)}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              submit();
            }}
          />
          {add.isError && <ErrorNotice error={add.error} />}
          <Group gap="xs">
            <Button type="submit" size="xs" loading={add.isPending} disabled={text.trim() === ''}>
              {t.addNote}
            </Button>
            {replyTo !== undefined && (
              <Button size="xs" variant="default" onClick={() => setReplyTo(undefined)}>
                {t.noReply}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
      {notes.isError && <ErrorNotice error={notes.error} onRetry={() => void notes.refetch()} />}
      {all.length > 0 && (
        <ul className={classes['notes']} aria-label={t.notes}>
          {all
            .filter(({ parentId }) => parentId === undefined)
            .map((note) => (
              <li key={note.id}>
                <Note note={note} />
                <ul className={classes['notes']}>
                  {all
                    .filter(({ parentId }) => parentId === note.id)
                    .toReversed()
                    .map((reply) => (
                      <li key={reply.id}>
                        <Note note={reply} />
                      </li>
                    ))}
                </ul>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  aria-label={t.replyTo(note.author)}
                  onClick={() => {
                    setReplyTo(note);
                    field.current?.focus();
                  }}
                >
                  {t.reply}
                </Button>
              </li>
            ))}
        </ul>
      )}
    </Section>
  );
}

function Note({ note: { text, author, createdAt } }: { note: LeadNote }) {
  return (
    <>
      <Text size="sm" className={classes['noteText']} dir="auto">
        {text}
      </Text>
      <Text size="xs" c="dimmed">
        {author}, {exactTime(createdAt)}
      </Text>
    </>
  );
}
