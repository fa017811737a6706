import { useEffect, useState } from 'react';
import { onIdentityQuestion } from './identity-question.ts';
import { lazyDialog } from './lazy-part.tsx';

const IdentityFormDialog = lazyDialog(async () => (await import('./identity-form.tsx')).IdentityFormDialog);

/** Asks for the password or the second factor while a sensitive action waits for it. */
export function IdentityDialog() {
  const [question, setQuestion] = useState<{ readonly answer: (isConfirmed: boolean) => void }>();
  useEffect(() => onIdentityQuestion((answer) => setQuestion({ answer })), []);
  if (question === undefined) return null;
  const answer = (isConfirmed: boolean) => {
    setQuestion(undefined);
    question.answer(isConfirmed);
  };
  return <IdentityFormDialog onDone={() => answer(true)} onClose={() => answer(false)} />;
}
