import type { Static, TObject } from 'typebox';
import type { tracingSettings } from './config.ts';
import type { Logger } from './log.ts';
import type { Tracing } from './span.ts';

export type { Tracing };

/**
 * Opens tracing with OpenTelemetry, if it is configured. The library is loaded only then.
 *
 * @param log receives one line when exports begin to fail, and one when they succeed again.
 */
export async function openTracing(
  settings: Static<TObject<typeof tracingSettings>>,
  service: { readonly name: string; readonly version: string },
  log: Logger,
): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = '' } = settings;
  if (endpoint === undefined) return undefined;
  const { createTracing } = await import('./open-telemetry.ts');
  return createTracing({ endpoint, headers, service }, (isExported, err) => {
    if (isExported) log.info('Trace export works again');
    else log.warn({ err }, 'Trace export failed; spans dropped, retrying');
  });
}
