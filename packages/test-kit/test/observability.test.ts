import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { provideProgram } from '@leads/local-stack/processes/debian-package';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { startNats } from '@leads/local-stack/processes/nats-server';
import { startService } from '@leads/test-kit/services';
import { repositoryRoot } from '@leads/local-stack/repository';
import {
  GroupingLabels,
  Identifier,
  LabelName,
  parser,
  QuotedLabelMatcher,
  UnquotedLabelMatcher,
  VectorSelector,
} from '@prometheus-io/lezer-promql';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { HttpClient } from '../src/http-client.ts';
import { parseMetrics } from '../src/prometheus-text.ts';
import { createPath, leadBody, prepareEnvironment, serviceNames } from '../src/running-stack.ts';

const directory = join(repositoryRoot, 'docker/observability');
const read = (name: string) => readFileSync(join(directory, name), 'utf8');

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}
const rules = (parse(read('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const alerts = rules.filter((rule) => rule.alert !== undefined);
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboard = JSON.parse(read('grafana/leads.json')) as { panels: Panel[] };
const panelQueries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, legend: legendFormat, expr: inGrafana(expr) })),
);
const expressions = [
  ...rules.map(({ record, alert, expr }) => ({ name: record ?? alert ?? '', expr })),
  ...panelQueries.map(({ title, expr }) => ({ name: title, expr })),
];

const config = parse(read('prometheus.yaml')) as {
  rule_files: string[];
  scrape_configs: {
    job_name: string;
    authorization: { credentials_file: string };
    dns_sd_configs: [{ names: [string]; port: number }];
  }[];
};

/** Replaces the variables of Grafana. */
function inGrafana(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '6h');
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly op: string; readonly value: string }[];
}

/**
 * Returns the selectors of an expression and the labels that it groups by, parsed with the grammar of
 * Prometheus.
 */
function readExpression(expr: string): {
  errors: string[];
  selectors: Selector[];
  groupedBy: string[];
} {
  const errors: string[] = [];
  const selectors: Selector[] = [];
  const groupedBy: string[] = [];
  parser.parse(expr).iterate({
    enter({ node }) {
      const text = expr.slice(node.from, node.to);
      if (node.type.isError) errors.push(`at ${node.from}: ${expr.slice(node.from - 10, node.from + 10)}`);
      if (node.type.id === VectorSelector) {
        const metric = node.getChild(Identifier);
        const matchers = [];
        const cursor = node.cursor();
        while (cursor.next() && cursor.from < node.to) {
          if (cursor.type.id === QuotedLabelMatcher) errors.push(`quoted: ${text}`);
          if (cursor.type.id !== UnquotedLabelMatcher) continue;
          const [, label = '', op = '', value = ''] =
            /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/s.exec(expr.slice(cursor.from, cursor.to)) ?? [];
          matchers.push({ label, op, value });
        }
        selectors.push({ metric: metric === null ? '' : expr.slice(metric.from, metric.to), matchers });
      }
      if (node.type.id === GroupingLabels) {
        groupedBy.push(...node.getChildren(LabelName).map(({ from, to }) => expr.slice(from, to)));
      }
    },
  });
  return { errors, selectors, groupedBy };
}

/** Labels that Prometheus adds to every scraped series. */
const scrapeLabels = new Map([
  ['job', new Set(config.scrape_configs.map(({ job_name }) => job_name))],
  ['instance', new Set<string>()],
]);

/** Returns the family of a histogram's series. */
const familyOf = (metric: string) => metric.replace(/_(bucket|sum|count)$/, '');

/** The series that both services export: the values of each label, by name. */
type ExportedSeries = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

let exportedSeries: ExportedSeries;
let families: ReturnType<typeof parseMetrics>['families'];
beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'leads-observability-'));
  try {
    await using environment = await prepareEnvironment();
    await using nats = await startNats({ binary: await findNatsServer(), dataDir });
    const env = {
      ...environment.env,
      NATS_URL: nats.url,
      DELIVERIES_SECRET: 'a secret of the deliveries in tests, 32 characters and more',
      INTAKE_WORKERS: '2',
      LOG_LEVEL: 'warn',
    };
    const services = await Promise.all(serviceNames.map((name) => startService(name, { env })));
    const texts: string[] = [];
    for (const service of services) {
      await using running = service;
      const client = new HttpClient(Number(new URL(running.url).port));
      const { headers } = environment.workspace.owner;
      const request = { method: 'POST', path: createPath[service.name], headers };
      const { status } = await client.send({ ...request, body: leadBody(service.name) });
      if (status !== 200) throw new Error(`${service.name} rejects a lead: ${status}`);
      await client.sendRaw('nonsense\r\n\r\n');
      // The metrics of the broker are missing while it does not respond.
      const isComplete = (text: string) =>
        service.name !== 'intake' || text.includes('\nlead_buffer_messages ');
      const scrape = async () => (await client.send({ path: '/metrics' })).text;
      let text = await scrape();
      for (
        const deadline = Date.now() + 30_000;
        !isComplete(text) && Date.now() < deadline;
        text = await scrape()
      ) {
        await sleep(100);
      }
      texts.push(text);
      client.close();
    }
    const metrics = texts.map(parseMetrics);
    families = new Map(metrics.flatMap((each) => [...each.families]));
    const series = new Map<string, Map<string, Set<string>>>();
    for (const { name, labels } of metrics.flatMap(({ samples }) => samples)) {
      const known = series.get(name) ?? new Map<string, Set<string>>();
      series.set(name, known);
      for (const [label, value] of Object.entries(labels)) {
        known.set(label, (known.get(label) ?? new Set()).add(value));
      }
    }
    exportedSeries = series;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('rules and panels query existing metrics and labels', () => {
  expect(expressions.flatMap(({ name, expr }) => errorsOf(expr).map((error) => `${name}: ${error}`))).toEqual(
    [],
  );
});

function errorsOf(expr: string): string[] {
  const { errors, selectors, groupedBy } = readExpression(expr);
  if (selectors.length === 0) errors.push('has no selector');
  for (const { metric, matchers } of selectors) {
    if (recorded.has(metric)) continue;
    // Prometheus generates this metric.
    const labels = metric === 'up' ? new Map<string, ReadonlySet<string>>() : exportedSeries.get(metric);
    if (labels === undefined) {
      errors.push(`metric ${metric} does not exist`);
      continue;
    }
    const { help = '' } = families.get(metric) ?? families.get(familyOf(metric)) ?? {};
    if (metric !== 'up' && !/\S/.test(help)) errors.push(`${metric} has no HELP`);
    const known = new Map<string, ReadonlySet<string>>([...labels, ...scrapeLabels]);
    for (const { label, op, value } of matchers) {
      if (!known.has(label)) errors.push(`${metric} has no label ${label}`);
      if (op === '=' && known.get(label)?.has(value) !== true)
        errors.push(`no ${metric} has ${label}="${value}"`);
    }
    errors.push(
      ...groupedBy.filter((label) => !known.has(label)).map((label) => `${metric} has no label ${label}`),
    );
  }
  return errors;
}

test('the legend of each panel uses labels that its query returns', () => {
  for (const { title, legend, expr } of panelQueries) {
    const { groupedBy } = readExpression(expr);
    for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g)) {
      expect([title, label, groupedBy]).toEqual([title, label, expect.arrayContaining([label])]);
    }
  }
});

test('every metric of leads and deliveries is shown in a panel or used in an alert', () => {
  const usedFamilies = new Set(
    expressions.flatMap(({ expr }) => readExpression(expr).selectors.map(({ metric }) => familyOf(metric))),
  );
  expect(
    [...families.keys()].filter((name) => /^(lead|deliver)/.test(name) && !usedFamilies.has(name)),
  ).toEqual([]);
});

test('each alert has a severity, a summary and a description in the README', () => {
  const readme = read('README.md');
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  for (const { alert = '', labels, annotations } of alerts) {
    expect([alert, labels?.['severity']]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)]);
    expect([alert, annotations?.['summary']]).toEqual([alert, expect.stringMatching(/\S/)]);
    expect([alert, readme.includes(`| \`${alert}\` |`)]).toEqual([alert, true]);
  }
  const documentedAlerts = [...readme.matchAll(/^\| `(Leads\w+)` \|/gm)].map(([, name]) => name);
  expect(new Set(documentedAlerts)).toEqual(new Set(alerts.map(({ alert }) => alert)));
});

test('the files of the compose file exist, and Prometheus can read its token and its rules', () => {
  const compose = parse(readFileSync(join(repositoryRoot, 'docker/compose.observability.yaml'), 'utf8'), {
    merge: true,
  }) as {
    services: Record<string, { volumes?: string[]; secrets?: string[] }>;
    volumes: Record<string, object>;
  };
  for (const [source = '', target = ''] of Object.values(compose.services)
    .flatMap(({ volumes = [] }) => volumes)
    .map((volume) => volume.split(':'))) {
    const exists = source.startsWith('.')
      ? existsSync(join(repositoryRoot, 'docker', source))
      : source in compose.volumes;
    expect([source, target, exists]).toEqual([source, target, true]);
  }
  for (const { authorization } of config.scrape_configs) {
    const name = authorization.credentials_file.replace('/run/secrets/', '');
    expect(compose.services['prometheus']?.secrets).toContain(name);
  }
  expect(config.rule_files.filter((file) => !existsSync(join(directory, file)))).toEqual([]);
  const { services } = parse(readFileSync(join(repositoryRoot, 'docker/compose.yaml'), 'utf8'), {
    merge: true,
  }) as { services: Record<string, { image: string; environment?: Record<string, string> }> };
  for (const { job_name, dns_sd_configs } of config.scrape_configs) {
    const [{ names, port }] = dns_sd_configs;
    const { image = '', environment } = services[names[0]] ?? {};
    const dockerfile = `docker/${image.replace('leads-', '')}.Dockerfile`;
    const [, exposed] = /^EXPOSE (\d+)$/m.exec(readFileSync(join(repositoryRoot, dockerfile), 'utf8')) ?? [];
    const served = environment?.['DELIVER_PORT'] ?? exposed;
    expect([job_name, String(port)]).toEqual([`leads-${names[0]}`, served]);
  }
});

test('promtool accepts the configuration, and the alerts fire as their tests expect', async () => {
  const promtool = await provideProgram('usr/bin/promtool', ['prometheus']);
  const run = (...args: string[]) => execFileSync(promtool, args, { cwd: directory, encoding: 'utf8' });
  expect(run('check', 'config', '--syntax-only', 'prometheus.yaml')).toContain('SUCCESS');
  expect(run('check', 'rules', 'alerts.yaml')).toContain('SUCCESS');
  expect(run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
});
