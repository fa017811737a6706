import type { LeadFilterQuery } from '@leads/core/lead';
import { randomId } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../../api/api-error.ts';
import { checkExport, exportAddress, openExport } from '../../api/leads.ts';
import { download } from '../../shell/download.ts';
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

/** The most leads, and the most bytes, that a browser collects because it cannot write a file of the user. */
const maxCollected = { leads: 200_000, bytes: 256 * 1024 * 1024 };
/** The bytes that become one Blob. A browser can move Blobs from its memory to the disk. */
const partBytes = 4 * 1024 * 1024;

/**
 * Exports all leads that match filters into a file, and shows the progress in the list. A browser that cannot write a
 * file of the user collects the file and then saves it. If the file is too large for that, the browser downloads it and
 * shows its own progress. An error is shown as a notification.
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
    if (file !== undefined) return await writeFile(ofUser(file), given);
    if (total !== undefined && total <= maxCollected.leads) {
      const collected = collect(fileName);
      await writeFile(collected, given);
      if (!collected.isTooLarge()) return;
    }
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

/** A file that an export writes. */
interface Target {
  readonly name: string;
  readonly open: () => Promise<WritableStream<Uint8Array<ArrayBuffer>>>;
  /** Called after an error. */
  readonly discard: () => Promise<void>;
  /** Whether the file has grown too large, so that its export ends without a message. */
  readonly isTooLarge: () => boolean;
}

/** The browser replaces the file when it is complete. After an error, it discards what it has written. */
const ofUser = (file: ChosenFile): Target => ({
  name: file.name,
  open: () => file.createWritable(),
  discard: async () => file.remove?.().catch(() => undefined),
  isTooLarge: () => false,
});

/** Returns a file that is collected and saved when it is complete. */
function collect(name: string): Target {
  let parts: Blob[] = [];
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let [bytes, waiting] = [0, 0];
  const store = () => {
    parts.push(new Blob(chunks));
    [chunks, waiting] = [[], 0];
  };
  const isTooLarge = () => bytes > maxCollected.bytes;
  return {
    name,
    isTooLarge,
    async open() {
      return new WritableStream({
        write(chunk) {
          bytes += chunk.byteLength;
          waiting += chunk.byteLength;
          if (isTooLarge()) throw new Error('The file is too large to be collected');
          chunks.push(chunk);
          if (waiting >= partBytes) store();
        },
        close() {
          store();
          download(new Blob(parts), name);
        },
      });
    },
    async discard() {
      [parts, chunks] = [[], []];
    },
  };
}

async function writeFile(
  file: Target,
  { queryClient, format, filters, total }: Parameters<typeof exportLeads>[0],
): Promise<void> {
  const cancellation = new AbortController();
  const ended = new AbortController();
  const id = randomId();
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
    const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        received = count(chunk);
        report();
        controller.enqueue(chunk);
      },
    });
    await content.pipeThrough(counted).pipeTo(await file.open(), { signal: cancellation.signal });
    notifications.show({ message: t.exported(received, file.name) });
  } catch (error) {
    await file.discard();
    if (file.isTooLarge()) return;
    if (cancellation.signal.aborted) notifications.show({ message: t.exportCancelled });
    else throw error instanceof ApiError ? error : new UserError(t.exportFailed, t.exportFailedStep);
  } finally {
    ended.abort();
    setExport(queryClient, id);
  }
}
