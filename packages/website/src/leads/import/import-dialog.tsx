import { Select } from '@mantine/core';
import type { ImportAnswer } from '@leads/core/lead';
import { useState } from 'react';
import { importLeads } from '../../api/imports.ts';
import { campaignOption } from '../../shell/campaign-option.ts';
import { imports as t } from '../../texts/imports.ts';
import * as texts from '../../texts/index.ts';
import { useActiveCampaigns } from '../active-campaigns.ts';
import { type ColumnTarget, guessTargets, headerFor, importFields, keyOf } from './import-file.ts';
import { type Figures, type FormProps, ImportForm, ImportFrame, repeatedIn } from './import-steps.tsx';

/** Imports the leads of a CSV file: choose a file, map its columns, read the report. */
export function ImportDialog({ onClose, onImported }: { onClose: () => void; onImported: () => void }) {
  return (
    <ImportFrame title={t.title} onClose={onClose}>
      {(props) => <ImportLeads {...props} onImported={onImported} onClose={onClose} />}
    </ImportFrame>
  );
}

function ImportLeads({
  file,
  ...props
}: FormProps & { readonly onImported: () => void; readonly onClose: () => void }) {
  const { active, preferred, emptyText } = useActiveCampaigns();
  const [targets, setTargets] = useState<readonly ColumnTarget[]>(() => guessTargets(file.columns));
  const [campaign, setCampaign] = useState<string | null>(null);

  const hasCampaigns = targets.includes('campaignCode');
  const campaignCode = campaign ?? (hasCampaigns ? undefined : preferred);
  const { names, ignore } = headerFor(file, targets);
  return (
    <ImportForm
      {...props}
      file={file}
      fields={targetOptions}
      targets={targets}
      onTargets={setTargets}
      header={names}
      faults={targetErrors(targets, names, campaignCode !== undefined)}
      words={t.leadImport}
      send={async (upload) =>
        importLeads({ ...upload, campaignCode, ignore, idempotencyKey: await keyOf(file.file) })
      }
      figuresOf={figuresOf}
    >
      <Select
        label={t.importCampaign}
        {...(hasCampaigns && { description: t.importCampaignHint })}
        placeholder={hasCampaigns ? texts.common.none : emptyText}
        nothingFoundMessage={emptyText}
        clearable={hasCampaigns}
        allowDeselect={hasCampaigns}
        searchable
        value={campaignCode ?? null}
        onChange={setCampaign}
        data={active.map(campaignOption)}
      />
    </ImportForm>
  );
}

const figuresOf = (report: ImportAnswer): Figures => [
  [t.accepted, report.accepted],
  ...(report.duplicates > 0 ? [[t.duplicates, report.duplicates] as const] : []),
  ...(report.repeated > 0 ? [[t.repeated, report.repeated] as const] : []),
  [t.rejected, report.rejected],
  ...(report.extraLeftOut > 0 ? [[t.extraLeftOut, report.extraLeftOut] as const] : []),
];

const targetOptions = [
  ...importFields.map((value) => ({
    value,
    label: value === 'campaignCode' ? t.campaignCodeField : texts.leads.fields[value],
  })),
  { value: 'extra', label: t.asExtra },
  { value: 'nothing', label: t.leaveOut },
] as const;

/** Returns the reasons why the service would reject the whole file. */
function targetErrors(
  targets: readonly ColumnTarget[],
  header: readonly string[],
  hasCampaign: boolean,
): string[] {
  const labelOf = (target: string) => targetOptions.find(({ value }) => value === target)?.label ?? target;
  const needed = hasCampaign ? (['name', 'phone'] as const) : (['name', 'phone', 'campaignCode'] as const);
  const missing = needed.filter((field) => !targets.includes(field));
  const fields = targets.filter((target) => target !== 'extra' && target !== 'nothing');
  const names = header.filter((_, i) => targets[i] === 'extra');
  return [
    ...(missing.length > 0 ? [t.missing(missing.map(labelOf).join(', '))] : []),
    ...repeatedIn(fields).map((field) => t.twice(labelOf(field))),
    ...repeatedIn(names).map(t.twiceName),
  ];
}
