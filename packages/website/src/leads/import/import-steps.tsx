import { Alert, Button, FileButton, Group, Progress, Select, Stack, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ImportAnswer } from '@leads/core/lead';
import { type ReactNode, useRef, useState } from 'react';
import type { Upload } from '../../api/imports.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { useFormInput } from '../../shell/discard-question.ts';
import { download } from '../../shell/download.ts';
import { formatNumber } from '../../shell/numbers.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { useKeepPage } from '../../shell/use-keep-page.ts';
import { usePreventReload } from '../../shell/use-prevent-reload.ts';
import { imports as t } from '../../texts/imports.ts';
import * as texts from '../../texts/index.ts';
import { type ImportFile, lineInFile, readHead, rejectedLines, withHeader } from './import-file.ts';
import classes from './import.module.css';

/* The steps of the dialogs that import a CSV file: choose the file, map its columns, read the report. */

/** The step of a chosen file: its columns are mapped, it is sent, or its report is shown. */
type Step = 'mapping' | 'sending' | 'report';

/** What the form of a chosen file gets from the dialog. */
export interface FormProps {
  readonly file: ImportFile;
  readonly onStep: (step: Step) => void;
  /** Chooses another file. */
  readonly onOther: () => void;
}

/** The frame of a dialog that imports a file. `children` renders the form of the chosen file. */
export function ImportFrame({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: (props: FormProps) => ReactNode;
}) {
  const [file, setFile] = useState<ImportFile>();
  const [step, setStep] = useState<Step>('mapping');
  return (
    <Dialog
      onClose={onClose}
      title={title}
      size="lg"
      // Closing the dialog ends the import.
      closeOnEscape={step !== 'sending'}
      withCloseButton={step !== 'sending'}
    >
      {file === undefined ? (
        <PickFile onFile={setFile} />
      ) : (
        children({
          file,
          onStep: setStep,
          onOther() {
            setFile(undefined);
            setStep('mapping');
          },
        })
      )}
    </Dialog>
  );
}

function PickFile({ onFile }: { onFile: (file: ImportFile) => void }) {
  const [isOver, setOver] = useState(false);
  const clearInput = useRef<() => void>(null);
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
          <FileButton
            accept=".csv,.tsv,.txt,text/csv"
            resetRef={clearInput}
            onChange={(file) => {
              readFile(file);
              // The browser reports the same file only to an empty input. The user may correct it and choose it again.
              clearInput.current?.();
            }}
          >
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

/** The parts of a report that every import has. */
type Report = Pick<ImportAnswer, 'rejected' | 'rejections' | 'truncated'>;

/** The figures of a report, in their order. */
export type Figures = readonly (readonly [label: string, value: number])[];

/**
 * Maps the columns of a file, sends it and shows the report.
 *
 * @param fields the fields that a column can be mapped to.
 * @param header the header to send, with a name for each column.
 * @param faults the reasons why the service would reject the whole file.
 * @param send sends the file with this header.
 * @param children further inputs.
 */
export function ImportForm<Target extends string, Answer extends Report>({
  file,
  fields,
  targets,
  onTargets,
  header,
  faults,
  words,
  send,
  figuresOf,
  onStep,
  onImported,
  onOther,
  onClose,
  children,
}: FormProps & {
  readonly fields: readonly { readonly value: Target; readonly label: string }[];
  readonly targets: readonly Target[];
  readonly onTargets: (targets: readonly Target[]) => void;
  readonly header: readonly string[];
  readonly faults: readonly string[];
  readonly words: Readonly<Record<'start' | 'working' | 'cancelled' | 'sendAgainHint' | 'report', string>>;
  readonly send: (upload: Upload) => Promise<Answer>;
  readonly figuresOf: (report: Answer) => Figures;
  readonly onImported: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const [sent, setSent] = useState(0);
  const cancelling = useRef<AbortController>(undefined);
  const columns = file.columns.map((column, i) => ({ column, i }));
  const upload = useMutation({
    async mutationFn() {
      const body = withHeader(file, header);
      const cancel = new AbortController();
      cancelling.current = cancel;
      setSent(0);
      return send({
        body,
        onSent: (bytes) => setSent(body.size === 0 ? 1 : Math.min(1, bytes / body.size)),
        signal: cancel.signal,
      });
    },
    onMutate: () => onStep('sending'),
    onSettled(report) {
      onStep(report === undefined ? 'mapping' : 'report');
      onImported();
    },
  });
  // Leaving the page ends the import. A report of rejected lines cannot be opened again.
  useKeepPage(upload.isPending || (upload.data?.rejected ?? 0) > 0);
  // A pending reload waits until the user has read the report. It would start between the import and its report if this did not
  // hold for both.
  usePreventReload(upload.isPending || upload.isSuccess);
  // The chosen file and the mapping of its columns are lost with the page.
  useFormInput(true);
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
          {percent < 100 ? t.uploaded(percent) : words.working}
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
    return (
      <ImportReport
        file={file}
        title={words.report}
        figures={figuresOf(upload.data)}
        report={upload.data}
        againHint={words.sendAgainHint}
        onAgain={start}
        onOther={onOther}
        onClose={onClose}
      />
    );
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
                  value={targets[i] ?? null}
                  onChange={(value) =>
                    onTargets(targets.map((target, at) => (at === i ? (value as Target) : target)))
                  }
                  data={fields}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {children}
      {faults.map((fault) => (
        <Alert key={fault} color="yellow">
          {fault}
        </Alert>
      ))}
      {upload.isError &&
        (upload.error.name === 'AbortError' ? (
          <Alert color="yellow" role="status">
            {words.cancelled}
          </Alert>
        ) : (
          <ErrorNotice error={upload.error} />
        ))}
      <Group justify="flex-end">
        {upload.isError && (
          <Text size="sm" c="dimmed">
            {words.sendAgainHint}
          </Text>
        )}
        <Button disabled={faults.length > 0} onClick={start}>
          {upload.isError ? t.sendAgain : words.start}
        </Button>
      </Group>
    </Stack>
  );
}

/** Returns what occurs more than once. */
export const repeatedIn = <Name extends string>(names: readonly Name[]): Name[] => [
  ...new Set(names.filter((name, i) => names.indexOf(name) !== i)),
];

/** The report of an import, with the reason for each rejected line. */
function ImportReport({
  file,
  title,
  figures,
  report,
  againHint,
  onAgain,
  onOther,
  onClose,
}: {
  file: ImportFile;
  title: string;
  figures: Figures;
  report: Report;
  againHint: string;
  onAgain: () => void;
  onOther: () => void;
  onClose: () => void;
}) {
  const downloadRejected = useMutation({
    mutationFn: () => rejectedLines(file, report.rejections),
    onSuccess: (content) => download(content, `${file.file.name.replace(/\.[^.]*$/, '')}-rejected.csv`),
  });
  return (
    <Stack>
      <Table variant="vertical" withTableBorder aria-label={title}>
        <Table.Tbody>
          {figures.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th>{label}</Table.Th>
              <Table.Td>{formatNumber(value)}</Table.Td>
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
                  <Table.Th>{texts.leads.reason}</Table.Th>
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
              {report.truncated && ` ${t.rejectedBeyond(report.rejections.length)}`}
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
            {report.truncated ? t.downloadFirst(report.rejections.length) : t.downloadRejected}
          </Button>
        )}
        {report.rejected > 0 && (
          <Button variant="default" title={againHint} onClick={onAgain}>
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
