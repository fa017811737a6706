import type { LeadFilterQuery } from '@leads/core/lead';
import { notifications } from '@mantine/notifications';
import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../../api/api-error.ts';
import { checkExport, exportAddress, openExport } from '../../api/leads.ts';
import { describeError } from '../../shell/describe-error.ts';
import { UserError } from '../../shell/user-error.ts';
import * as texts from '../../texts/index.ts';
import { leadCounter } from './lead-counter.ts';
import { setExport } from './running-exports.ts';

const t = texts.leads;

/** The interval between two reports of the progress, in milliseconds. */
const reportMs = 200;

/** A file of the user. Browsers that lack `remove` keep an empty file after a failed export. */
type ChosenFile = FileSystemFileHandle & { readonly remove?: () => Promise<void> };

declare global {
  interface Window {
    /** Only in Chromium, and only in secure contexts. */
    showSaveFilePicker?: (options: { suggestedName: string }) => Promise<ChosenFile>;
  }
}

/**
 * Exports all leads that match filters into a file. If the browser can write a file while it arrives, the list shows the
 * progress. Otherwise the browser downloads the file and shows its own progress. The file is never held in memory. An
 * error is shown as a notification.
 *
 * @param total the number of leads that match, if it is known.
 */
export async function exportLeads(given: {
  readonly queryClient: QueryClient;
  readonly format: 'csv' | 'ndjson';
  readonly filters: LeadFilterQuery;
  readonly total: number | undefined;
}): Promise<void> {
  const { format, filters, total } = given;
  try {
    // The browser would not show the user why the server rejects a download.
    await checkExport(format, filters);
    const fileName = `leads-${new Date().toISOString().slice(0, 10)}.${format}`;
    const file = await chooseFile(fileName);
    if (file === 'cancelled') return;
    if (file !== undefined) return await writeFile(file, given);
    const link = document.createElement('a');
    link.href = exportAddress(format, filters);
    link.download = fileName;
    link.click();
    notifications.show({ message: t.exporting(total) });
  } catch (error) {
    const { title, sentences } = describeError(error as Error);
    notifications.show({ color: 'red', title, message: sentences.join(' '), autoClose: false });
  }
}

/** Asks the user for a file. Undefined if the browser cannot write a file of the user. */
async function chooseFile(suggestedName: string): Promise<ChosenFile | 'cancelled' | undefined> {
  try {
    return await window.showSaveFilePicker?.({ suggestedName });
  } catch (error) {
    // With another error, the browser does not permit the question, such as too long after the click.
    return (error as Error).name === 'AbortError' ? 'cancelled' : undefined;
  }
}

async function writeFile(
  file: ChosenFile,
  { queryClient, format, filters, total }: Parameters<typeof exportLeads>[0],
): Promise<void> {
  const cancellation = new AbortController();
  const ended = new AbortController();
  const id = crypto.randomUUID();
  const count = leadCounter(format);
  let received = 0;
  let reportedMs = Number.NEGATIVE_INFINITY;
  const report = () => {
    if (performance.now() - reportedMs < reportMs) return;
    reportedMs = performance.now();
    const cancel = () => cancellation.abort();
    setExport(queryClient, id, { id, fileName: file.name, received, total, cancel });
  };
  // Leaving the website ends the export. The browser asks the user before.
  window.addEventListener('beforeunload', (event) => event.preventDefault(), { signal: ended.signal });
  report();
  try {
    const content = await openExport(format, filters, cancellation.signal);
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received = count(chunk);
        report();
        controller.enqueue(chunk);
      },
    });
    // The browser replaces the file when it is complete. After an error, it discards what it has written.
    await content.pipeThrough(counted).pipeTo(await file.createWritable(), { signal: cancellation.signal });
    notifications.show({ message: t.exported(received, file.name) });
  } catch (error) {
    await file.remove?.().catch(() => undefined);
    if (cancellation.signal.aborted) notifications.show({ message: t.exportCancelled });
    else throw error instanceof ApiError ? error : new UserError(t.exportFailed, t.exportFailedStep);
  } finally {
    ended.abort();
    setExport(queryClient, id);
  }
}
