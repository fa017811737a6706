import { Alert, Button, FileButton, Group, Progress, Select, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { campaignsQuery } from '../../api/campaigns.ts';
import type { ImportAnswer } from '@leads/core/lead';
import { importLeads } from '../../api/leads.ts';
import { campaignOption } from '../../shell/campaign-option.ts';
import { download } from '../../shell/download.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { ErrorNotice } from '../../shell/states.tsx';
import { usePreventReload } from '../../shell/use-prevent-reload.ts';
import * as texts from '../../texts/index.ts';
import {
  type ColumnTarget,
  guessTargets,
  headerFor,
  type ImportFile,
  importFields,
  keyOf,
  lineInFile,
  readHead,
  rejectedLines,
  withHeader,
} from './import-file.ts';
import classes from './leads.module.css';
import { withReasons } from './with-reasons.ts';

const t = texts.leads;

/** Imports the leads of a CSV file: choose a file, map its columns, read the report. */
export function ImportDialog({ onClose, onImported }: { onClose: () => void; onImported: () => void }) {
  const [file, setFile] = useState<ImportFile>();
  const [isWorking, setWorking] = useState(false);
  return (
    <Dialog
      onClose={onClose}
      title={t.importTitle}
      size="lg"
      // Closing the dialog ends the import.
      closeOnClickOutside={!isWorking}
      closeOnEscape={!isWorking}
      withCloseButton={!isWorking}
    >
      {file === undefined ? (
        <PickFile onFile={setFile} />
      ) : (
        <ImportOneFile
          key={`${file.file.name} ${file.file.lastModified}`}
          file={file}
          onWorking={setWorking}
          onImported={onImported}
          onOther={() => setFile(undefined)}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function PickFile({ onFile }: { onFile: (file: ImportFile) => void }) {
  const [isOver, setOver] = useState(false);
  const read = useMutation({
    mutationFn: readHead,
    onSuccess: onFile,
  });
  const readFile = (file: File | null | undefined) => {
    if (file) read.mutate(file);
  };
  return (
    <Stack>
      <div
        className={classes['drop']}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          readFile(event.dataTransfer.files[0]);
        }}
      >
        <Stack align="center" gap="xs">
          <FileButton accept=".csv,.tsv,.txt,text/csv" onChange={readFile}>
            {(props) => (
              <Button {...props} loading={read.isPending} data-autofocus>
                {t.pick}
              </Button>
            )}
          </FileButton>
          <Text size="sm">{t.drop}</Text>
          <Text size="sm" c="dimmed">
            {t.pickHint}
          </Text>
        </Stack>
      </div>
      {read.isError && <ErrorNotice error={read.error} />}
    </Stack>
  );
}

function ImportOneFile({
  file,
  onWorking,
  onImported,
  onOther,
  onClose,
}: {
  file: ImportFile;
  onWorking: (isWorking: boolean) => void;
  onImported: () => void;
  onOther: () => void;
  onClose: () => void;
}) {
  const { data: campaigns } = useQuery(campaignsQuery);
  const active = campaigns?.filter(({ status }) => status === 'active') ?? [];
  const [targets, setTargets] = useState<readonly ColumnTarget[]>(() => guessTargets(file.columns));
  const [campaign, setCampaign] = useState<string | null>(null);
  const [sent, setSent] = useState(0);
  const cancelling = useRef<AbortController>(undefined);

  const hasCampaigns = targets.includes('campaignCode');
  const defaultCode = (active.find(({ isDefault }) => isDefault) ?? active[0])?.code;
  const campaignCode = campaign ?? (hasCampaigns ? undefined : defaultCode);
  const columns = file.columns.map((column, i) => ({ column, i }));
  const header = headerFor(file, targets);
  const faults = targetErrors(targets, header.names, campaignCode !== undefined);

  const upload = useMutation({
    async mutationFn() {
      const body = withHeader(file, header.names);
      const cancel = new AbortController();
      cancelling.current = cancel;
      setSent(0);
      return importLeads({
        body,
        campaignCode,
        ignore: header.ignore,
        idempotencyKey: await keyOf(file.file),
        onSent: (bytes) => setSent(body.size === 0 ? 1 : Math.min(1, bytes / body.size)),
        signal: cancel.signal,
      });
    },
    onMutate: () => onWorking(true),
    onSettled() {
      onWorking(false);
      onImported();
    },
  });
  usePreventReload(upload.isPending || upload.isSuccess);
  const start = () => upload.mutate();

  if (upload.isPending) {
    const percent = Math.floor(sent * 100);
    return (
      <Stack>
        <Text size="sm" className={classes['wrap']}>
          {file.file.name}
        </Text>
        <Progress.Root size="lg">
          <Progress.Section value={percent} aria-label={t.uploading} />
        </Progress.Root>
        <Text size="sm" role="status">
          {percent < 100 ? t.uploaded(percent) : t.working}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => cancelling.current?.abort()}>
            {texts.common.cancel}
          </Button>
        </Group>
      </Stack>
    );
  }
  if (upload.data !== undefined) {
    return <Report file={file} report={upload.data} onAgain={start} onOther={onOther} onClose={onClose} />;
  }
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" fw={600} className={classes['wrap']}>
          {file.file.name}
        </Text>
        <Button size="compact-sm" variant="subtle" onClick={onOther}>
          {t.otherFile}
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {t.delimiter(t.delimiters[file.separator] ?? file.separator)}
      </Text>
      <Table layout="fixed" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.column}</Table.Th>
            <Table.Th>{t.goesTo}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {columns.map(({ column, i }) => (
            <Table.Tr key={i}>
              <Table.Td>
                <Text size="sm" fw={600} truncate title={column}>
                  {column}
                </Text>
                {file.sample.map(({ line, cells }) => (
                  <Text key={line} size="xs" c="dimmed" truncate title={cells[i]}>
                    {cells[i]}
                  </Text>
                ))}
              </Table.Td>
              <Table.Td>
                <Select
                  size="xs"
                  aria-label={t.goesToOf(column)}
                  allowDeselect={false}
                  value={targets[i] ?? 'extra'}
                  onChange={(value) =>
                    setTargets(targets.map((target, at) => (at === i ? (value as ColumnTarget) : target)))
                  }
                  data={targetOptions}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Select
        label={t.importCampaign}
        {...(hasCampaigns && { description: t.importCampaignHint })}
        placeholder={hasCampaigns ? texts.common.none : t.noCampaigns}
        clearable={hasCampaigns}
        allowDeselect={hasCampaigns}
        searchable
        value={campaignCode ?? null}
        onChange={setCampaign}
        data={active.map(campaignOption)}
      />
      {faults.map((fault) => (
        <Alert key={fault} color="yellow">
          {fault}
        </Alert>
      ))}
      {upload.isError &&
        (upload.error.name === 'AbortError' ? (
          <Alert color="yellow" role="status">
            {t.importCancelled}
          </Alert>
        ) : (
          <ErrorNotice error={withReasons(upload.error)} />
        ))}
      <Group justify="flex-end">
        {upload.isError && (
          <Text size="sm" c="dimmed">
            {t.sendAgainHint}
          </Text>
        )}
        <Button disabled={faults.length > 0} onClick={start}>
          {upload.isError ? t.sendAgain : t.startImport}
        </Button>
      </Group>
    </Stack>
  );
}

const targetOptions = [
  ...importFields.map((value) => ({
    value,
    label: value === 'campaignCode' ? t.campaignCodeField : t.fields[value],
  })),
  { value: 'extra', label: t.asExtra },
  { value: 'nothing', label: t.leaveOut },
];

/** Returns the reasons why the service would reject the whole file. */
function targetErrors(
  targets: readonly ColumnTarget[],
  header: readonly string[],
  hasCampaign: boolean,
): string[] {
  const labelOf = (target: string) => targetOptions.find(({ value }) => value === target)?.label ?? target;
  const needed = hasCampaign ? (['name', 'phone'] as const) : (['name', 'phone', 'campaignCode'] as const);
  const missing = needed.filter((field) => !targets.includes(field));
  const twice = (names: readonly string[]) => new Set(names.filter((name, i) => names.indexOf(name) !== i));
  const fields = targets.filter((target) => target !== 'extra' && target !== 'nothing');
  const names = header.filter((_, i) => targets[i] === 'extra');
  return [
    ...(missing.length > 0 ? [t.missing(missing.map(labelOf).join(', '))] : []),
    ...[...twice(fields)].map((field) => t.twice(labelOf(field))),
    ...[...twice(names)].map(t.twiceName),
  ];
}

function Report({
  file,
  report,
  onAgain,
  onOther,
  onClose,
}: {
  file: ImportFile;
  report: ImportAnswer;
  onAgain: () => void;
  onOther: () => void;
  onClose: () => void;
}) {
  const rows = [
    [t.accepted, report.accepted],
    ...(report.duplicates > 0 ? [[t.duplicates, report.duplicates]] : []),
    ...(report.repeated > 0 ? [[t.repeated, report.repeated]] : []),
    [t.rejected, report.rejected],
    ...(report.extraLeftOut > 0 ? [[t.extraLeftOut, report.extraLeftOut]] : []),
  ] as const;
  const downloadRejected = useMutation({
    mutationFn: () => rejectedLines(file, report.rejections),
    onSuccess: (content) => download(content, `${file.file.name.replace(/\.[^.]*$/, '')}-rejected.csv`),
  });
  return (
    <Stack>
      <Table variant="vertical" withTableBorder aria-label={t.report}>
        <Table.Tbody>
          {rows.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th>{label}</Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {report.rejections.length > 0 && (
        <>
          <Table.ScrollContainer minWidth={0} mah={220} type="native">
            <Table aria-label={t.rejectedTitle}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th w={70}>{t.line}</Table.Th>
                  <Table.Th>{t.reason}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {report.rejections.slice(0, 100).map(({ line, reason }) => (
                  <Table.Tr key={line}>
                    <Table.Td>{lineInFile(file, line)}</Table.Td>
                    <Table.Td className={classes['wrap']}>{reason}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
          {(report.truncated || report.rejections.length > 100) && (
            <Text size="sm" c="dimmed">
              {t.rejectedMore(Math.min(100, report.rejections.length))}
            </Text>
          )}
          {downloadRejected.isError && <ErrorNotice error={downloadRejected.error} />}
        </>
      )}
      <Group justify="flex-end">
        {report.rejections.length > 0 && (
          <Button
            variant="default"
            loading={downloadRejected.isPending}
            onClick={() => downloadRejected.mutate()}
          >
            {t.downloadRejected}
          </Button>
        )}
        {report.rejected > 0 && (
          <Button variant="default" title={t.sendAgainHint} onClick={onAgain}>
            {t.sendAgain}
          </Button>
        )}
        <Button variant="default" onClick={onOther}>
          {t.otherFile}
        </Button>
        <Button data-autofocus onClick={onClose}>
          {t.done}
        </Button>
      </Group>
    </Stack>
  );
}
