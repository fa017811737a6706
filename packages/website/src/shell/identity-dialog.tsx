import { useEffect, useState } from 'react';
import { onIdentityQuestion } from './identity-question.ts';
import { lazyDialog } from './lazy-dialog.tsx';

const IdentityFormDialog = lazyDialog(async () => (await import('./identity-form.tsx')).IdentityFormDialog);

/** Asks for the password or the second factor while a sensitive action waits for it. */
export function IdentityDialog() {
  const [question, setQuestion] = useState<{ readonly answer: (isConfirmed: boolean) => void }>();
  useEffect(() => onIdentityQuestion((answer) => setQuestion({ answer })), []);
  if (question === undefined) return null;
  return (
    <IdentityFormDialog
      onClose={(isConfirmed) => {
        setQuestion(undefined);
        question.answer(isConfirmed);
      }}
    />
  );
}
