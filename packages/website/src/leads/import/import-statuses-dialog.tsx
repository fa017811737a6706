import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { StatusImportAnswer } from '@leads/core/lead';
import { useState } from 'react';
import { importStatuses } from '../../api/imports.ts';
import { invalidateCounts } from '../../api/leads.ts';
import { AnchorLink } from '../../shell/links.tsx';
import { imports as t } from '../../texts/imports.ts';
import * as texts from '../../texts/index.ts';
import {
  guessStatusTargets,
  keyOf,
  statusFields,
  statusHeaderFor,
  type StatusTarget,
} from './import-file.ts';
import { type Figures, type FormProps, ImportForm, ImportFrame, repeatedIn } from './import-steps.tsx';

interface Props {
  readonly onClose: () => void;
  readonly onImported?: () => void;
}

/** Changes the statuses of the leads of a CSV file, such as the results of a call center. For owners and managers. */
export function ImportStatusesDialog({ onClose, onImported }: Props) {
  const queryClient = useQueryClient();
  return (
    <ImportFrame title={texts.leads.importStatuses} onClose={onClose}>
      {(props) => (
        <ImportStatuses
          {...props}
          onImported={() => {
            onImported?.();
            invalidateCounts(queryClient);
          }}
          onClose={onClose}
        />
      )}
    </ImportFrame>
  );
}

function ImportStatuses({ file, ...props }: FormProps & Required<Props>) {
  const [targets, setTargets] = useState<readonly StatusTarget[]>(() => guessStatusTargets(file.columns));
  return (
    <ImportForm
      {...props}
      file={file}
      fields={targetOptions}
      targets={targets}
      onTargets={setTargets}
      header={statusHeaderFor(targets)}
      faults={targetErrors(targets)}
      words={t.statusImport}
      send={async (upload) =>
        importStatuses({ ...upload, idempotencyKey: `${await keyOf(file.file)} ${mappingOf(targets)}` })
      }
      figuresOf={figuresOf}
    >
      <Text size="sm" c="dimmed">
        {t.statusImportLead} {t.statusImportAliases}{' '}
        <AnchorLink to="/integrations" onClick={props.onClose}>
          {t.toStatusAliases}
        </AnchorLink>
      </Text>
    </ImportForm>
  );
}

/** Returns the mapping as a part of the idempotency key: the same file with another mapping is another import. */
const mappingOf = (targets: readonly StatusTarget[]) =>
  targets.flatMap((target, i) => (target === 'nothing' ? [] : [`${target}=${i}`])).join();

const figuresOf = (report: StatusImportAnswer): Figures => [
  [t.statusesChanged, report.changed],
  [t.statusesUnchanged, report.unchanged],
  ...(report.repeated > 0 ? [[t.statusesRepeated, report.repeated] as const] : []),
  [t.rejected, report.rejected],
];

const labels: Readonly<Record<StatusTarget, string>> = {
  id: t.leadId,
  s1: texts.leads.s1,
  phone: texts.leads.fields.phone,
  campaignCode: t.campaignCodeField,
  status: texts.leads.status,
  reason: texts.leads.reason,
  nothing: t.leaveOut,
};
const targetOptions = [...statusFields, 'nothing' as const].map((value) => ({ value, label: labels[value] }));

/** Returns the reasons why the service would reject the whole file. */
function targetErrors(targets: readonly StatusTarget[]): string[] {
  const names = ['id', 's1', 'phone'] as const;
  return [
    ...(targets.includes('status') ? [] : [t.missing(texts.leads.status)]),
    ...(names.some((name) => targets.includes(name)) ? [] : [t.missingLead]),
    ...repeatedIn(targets.filter((target) => target !== 'nothing')).map((target) => t.twice(labels[target])),
  ];
}
