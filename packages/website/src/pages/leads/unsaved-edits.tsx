import { Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { LeadSearch } from '../../leads/lead-search.ts';
import { ConfirmDialog } from '../../shell/confirm-dialog.tsx';
import { onUnsavedEdits } from '../../shell/discard-question.ts';
import * as texts from '../../texts/index.ts';

const t = texts.leads;

const Unsaved = createContext<(part: string, isUnsaved: boolean) => void>(() => undefined);

/** Reports whether a part of the panel has unsaved edits. A layout effect, because the next key can be Esc. */
export function useUnsaved(part: string, isUnsaved: boolean): void {
  const report = useContext(Unsaved);
  useLayoutEffect(() => {
    report(part, isUnsaved);
    return () => report(part, false);
  }, [report, part, isUnsaved]);
}

/** Asks before Esc, the back button, links and a sign-out discard unsaved edits of its parts. */
export function UnsavedEdits({ leadId, children }: { leadId: string; children: ReactNode }) {
  const unsaved = useRef(new Set<string>());
  const setUnsaved = useCallback((part: string, isUnsaved: boolean) => {
    if (isUnsaved) unsaved.current.add(part);
    else unsaved.current.delete(part);
  }, []);
  const leaving = useBlocker({
    shouldBlockFn: ({ next: to }) => unsaved.current.size > 0 && (to.search as LeadSearch).lead !== leadId,
    enableBeforeUnload: () => unsaved.current.size > 0,
    withResolver: true,
  });
  const [question, setQuestion] = useState<{ readonly answer: (isDiscarded: boolean) => void }>();
  useEffect(
    () =>
      onUnsavedEdits({
        ask(answer) {
          if (unsaved.current.size === 0) answer(true);
          else setQuestion({ answer });
        },
        areLeft: () => unsaved.current.size > 0,
      }),
    [],
  );
  const answer = (isDiscarded: boolean) => {
    setQuestion(undefined);
    question?.answer(isDiscarded);
  };
  const isBlocked = leaving.status === 'blocked';
  return (
    <>
      <Unsaved value={setUnsaved}>{children}</Unsaved>
      {(isBlocked || question !== undefined) && (
        <ConfirmDialog
          title={t.discardTitle}
          action={t.discard}
          onConfirm={async () => (isBlocked ? leaving.proceed() : answer(true))}
          onClose={isBlocked ? leaving.reset : () => answer(false)}
        >
          <Text size="sm">{t.discardLead}</Text>
        </ConfirmDialog>
      )}
    </>
  );
}
