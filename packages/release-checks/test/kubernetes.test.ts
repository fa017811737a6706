import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { documentedSettings } from '@leads/test-kit/documents';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { CronJob, Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Namespace, Service } from 'kubernetes-models/v1';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseDockerfile } from '../src/images/dockerfile.ts';

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Kustomization {
  readonly resources: readonly string[];
  readonly images?: readonly { readonly name: string; readonly newTag: string }[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly literals: readonly string[] }[];
}

interface Container {
  readonly command?: readonly string[];
  readonly image: string;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
}

/** A Deployment or a Job. */
interface Workload extends KubernetesObject {
  readonly spec: {
    readonly selector?: { readonly matchLabels: object };
    readonly strategy?: object;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly Container[];
        readonly volumes: readonly {
          readonly name: string;
          readonly secret: {
            readonly secretName: string;
            readonly items?: readonly { readonly key: string; readonly path: string }[];
          };
        }[];
        readonly terminationGracePeriodSeconds?: number;
        readonly securityContext: object;
      };
    };
  };
}

const directory = join(repositoryRoot, 'docker/kubernetes');
const readText = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const { version } = JSON.parse(readText('package.json')) as { version: string };
const readme = readText('docker/README.md');

/** Returns the objects and kustomizations of a folder, including those of the folders that it names. */
function load(folder: string): { objects: KubernetesObject[]; kustomizations: Kustomization[] } {
  const kustomization = parse(
    readFileSync(join(directory, folder, 'kustomization.yaml'), 'utf8'),
  ) as Kustomization;
  const objects: KubernetesObject[] = [];
  const kustomizations = [kustomization];
  for (const resource of kustomization.resources) {
    if (resource.startsWith('../')) {
      const named = load(resource.slice(3));
      objects.push(...named.objects);
      kustomizations.push(...named.kustomizations);
      continue;
    }
    const text = readFileSync(join(directory, folder, resource), 'utf8');
    for (const document of parseAllDocuments(text, { merge: true })) {
      expect(document.errors, resource).toEqual([]);
      const object = document.toJS() as KubernetesObject & { readonly items?: readonly KubernetesObject[] };
      objects.push(...(object.kind === 'List' ? (object.items ?? []) : [object]));
    }
  }
  return { objects, kustomizations };
}

const folders = { base: load('base'), deliver: load('deliver'), migrate: load('migrate') };
const objects = Object.values(folders).flatMap((folder) => folder.objects);
const kustomizations = Object.values(folders).flatMap((folder) => folder.kustomizations);
const ofKind = <Kind extends KubernetesObject>(kind: string) =>
  objects.filter((object) => object.kind === kind) as Kind[];
const deployments = ofKind<Workload>('Deployment');
const workloads = [
  ...deployments,
  ...ofKind<Workload>('Job'),
  ...ofKind<KubernetesObject & { spec: { jobTemplate: Pick<Workload, 'spec'> } }>('CronJob').map(
    ({ kind, metadata, spec }): Workload => ({ kind, metadata, spec: spec.jobTemplate.spec }),
  ),
];
const containers = workloads.flatMap(({ metadata, spec }) =>
  spec.template.spec.containers.map((container) => ({
    of: metadata.name,
    container,
    volumes: spec.template.spec.volumes,
  })),
);

/** The reader of the settings, as named in the table of docker/CONFIGURATION.md. */
const readers: Readonly<Record<string, string>> = {
  'leads-crm': 'CRM',
  'leads-intake': 'intake',
  'leads-deliver': '`leads`',
  'leads-migrate': '`leads`',
  'leads-retention': '`leads`',
  'leads-nats-setup': '`leads`',
};

const models = {
  Namespace,
  Service,
  NetworkPolicy,
  PodDisruptionBudget,
  HorizontalPodAutoscaler,
  Deployment,
  Job,
  CronJob,
};

/** Wraps a value and records the properties that are never read, which are unknown to a schema. */
function recordUnread<Value>(value: Value, path: string, unread: Set<string>): Value {
  if (typeof value !== 'object' || value === null) return value;
  const children = new Map<string, unknown>();
  for (const [name, child] of Object.entries(value)) {
    unread.add(`${path}/${name}`);
    children.set(name, recordUnread(child, `${path}/${name}`, unread));
  }
  return new Proxy(value, {
    get(target, name) {
      if (typeof name !== 'string' || !children.has(name)) return Reflect.get(target, name) as unknown;
      unread.delete(`${path}/${name}`);
      return children.get(name);
    },
  });
}

test('every object matches its Kubernetes schema, without unknown fields', () => {
  for (const object of objects) {
    const name = `${object.kind} ${object.metadata.name}`;
    const Model = models[object.kind as keyof typeof models];
    expect(Model, name).toBeDefined();
    const unread = new Set<string>();
    const model = new Model(recordUnread(object, '', unread));
    unread.clear();
    for (const [field, value] of Object.entries(object)) {
      Object.assign(model, { [field]: recordUnread(value, `/${field}`, unread) });
    }
    expect(() => model.validate(), name).not.toThrow();
    expect([...unread], name).toEqual([]);
  }
});

test('kubectl, if installed, renders the objects that the kustomizations name', () => {
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) {
    console.log('kubectl is not installed: the manifests were parsed without rendering.');
    return;
  }
  for (const [folder, { objects: read }] of Object.entries(folders)) {
    const rendered = execFileSync('kubectl', ['kustomize', join(directory, folder)], { encoding: 'utf8' });
    const names = parseAllDocuments(rendered)
      .map((document) => document.toJS() as KubernetesObject)
      .filter(({ kind }) => kind !== 'ConfigMap')
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names.toSorted()).toEqual(read.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted());
  }
});

test('every variable of a container is a setting of its program', () => {
  const literals = kustomizations.flatMap(({ configMapGenerator = [] }) => configMapGenerator);
  for (const { of, container } of containers) {
    const maps = (container.envFrom ?? []).map(({ configMapRef }) => configMapRef.name);
    expect(maps.filter((name) => literals.every((map) => map.name !== name))).toEqual([]);
    const fromMaps = literals.filter(({ name }) => maps.includes(name)).flatMap((map) => map.literals);
    const names = [
      ...container.env.map(({ name }) => name.replace(/_FILE$/, '')),
      ...fromMaps.map((literal) => literal.split('=', 1)[0] ?? ''),
    ];
    const known = documentedSettings(readers[of] ?? '');
    expect(
      names.filter((name) => !known.includes(name)),
      of,
    ).toEqual([]);
    expect(names.length, `${of}: no variable is set twice`).toBe(new Set(names).size);
  }
});

test('both services know their public origins, because their API references link to each other', () => {
  const originsOf = (service: string) =>
    folders.base.kustomizations
      .flatMap(({ configMapGenerator = [] }) => configMapGenerator)
      .filter(({ name }) => name === service)
      .flatMap(({ literals }) => literals.filter((literal) => /^(?:PUBLIC|INTAKE)_URL=/.test(literal)));
  expect(originsOf('leads-crm')).toHaveLength(2);
  expect(originsOf('leads-intake')).toEqual(originsOf('leads-crm'));
});

test('the CRM reaches the intake inside the cluster, and only pods that use Postgres may connect to it', () => {
  const literals = kustomizations.flatMap(({ configMapGenerator = [] }) =>
    configMapGenerator.flatMap((map) => map.literals),
  );
  expect(literals).toEqual(
    expect.arrayContaining(['INTAKE_INTERNAL_URL=http://leads-intake', 'SERVED_HOSTS=leads-intake']),
  );
  expect(ofKind('Service').map(({ metadata }) => metadata.name)).toContain('leads-intake');
  const policies = new Map(
    ofKind<KubernetesObject & { spec: object }>('NetworkPolicy').map(({ metadata, spec }) => [
      metadata.name,
      spec,
    ]),
  );
  const podsOf = (name: string) => ({ matchLabels: { 'app.kubernetes.io/name': name } });
  expect(policies.get('reach-intake')).toMatchObject({
    podSelector: podsOf('leads-crm'),
    egress: [{ to: [{ podSelector: podsOf('leads-intake') }] }],
  });
  expect(policies.get('let-in-intake')).toMatchObject({
    ingress: [{ from: [expect.anything(), { podSelector: podsOf('leads-crm') }] }],
  });
  expect(policies.get('reach-postgres')).toMatchObject({
    podSelector: { matchExpressions: [{ values: ['leads-crm', 'leads-intake', 'leads-migrate'] }] },
  });
});

test('pods that only send deliveries serve their probes, are the only ones with a way out, and lack secrets of the CRM', () => {
  const { objects: own, kustomizations: kustomization } = folders.deliver;
  expect(own.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'NetworkPolicy leads-deliver',
    'PodDisruptionBudget leads-deliver',
    'Deployment leads-deliver',
  ]);
  const container = containers.find(({ of }) => of === 'leads-deliver')?.container;
  expect(container?.command).toEqual(['leads', 'deliver']);
  expect(kustomization[0]?.configMapGenerator).toEqual([
    {
      name: 'leads-deliver',
      literals: ['DELIVER_HOST=0.0.0.0', `DELIVER_PORT=${container?.ports?.[0]?.containerPort}`],
    },
  ]);
  expect(container?.env.map(({ name }) => name)).toEqual([
    'DATABASE_URL_FILE',
    'DELIVERIES_SECRET_FILE',
    'METRICS_TOKEN_FILE',
  ]);
  // The overlay of the comment removes the CRM's policy.
  const comment = readText('docker/kubernetes/deliver/kustomization.yaml');
  expect(comment).toContain('target: { kind: NetworkPolicy, name: send-webhooks }');
  const policyOf = (name: string) =>
    ofKind<KubernetesObject & { spec: { egress: { to?: unknown; ports: { port: number }[] }[] } }>(
      'NetworkPolicy',
    ).find(({ metadata }) => metadata.name === name)?.spec.egress ?? [];
  const toReceivers = policyOf('leads-deliver').filter(({ to }) => to !== undefined);
  expect(toReceivers).toEqual(policyOf('send-webhooks'));
  expect(toReceivers).not.toEqual([]);
});

test('the patches for a new DELIVERIES_SECRET give its predecessor to every container that sends deliveries', () => {
  interface Patch {
    readonly target: { readonly name: string };
    readonly patch: string;
  }
  const [, text = ''] =
    /```yaml\n(patches:[^]*?)```/.exec(readText('apps/crm/src/deliveries/README.md')) ?? [];
  const { patches } = parse(text) as { patches: readonly Patch[] };
  const senders = containers.filter(({ container }) =>
    container.env.some(({ name }) => name === 'DELIVERIES_SECRET_FILE'),
  );
  expect(senders.map(({ of }) => of).toSorted()).toEqual(['leads-crm', 'leads-deliver']);
  for (const { of, container, volumes } of senders) {
    const path = container.volumeMounts[0]?.mountPath;
    const additions = [
      {
        op: 'add',
        path: '/spec/template/spec/containers/0/env/-',
        value: {
          name: 'DELIVERIES_PREVIOUS_SECRET_FILE',
          value: `${path}/DELIVERIES_PREVIOUS_SECRET`,
        },
      },
      // Without a list of keys, the volume has all keys of the secret.
      ...(volumes[0]?.secret.items === undefined
        ? []
        : [
            {
              op: 'add',
              path: '/spec/template/spec/volumes/0/secret/items/-',
              value: { key: 'DELIVERIES_PREVIOUS_SECRET', path: 'DELIVERIES_PREVIOUS_SECRET' },
            },
          ]),
    ];
    const matching = patches.filter(({ target }) => new RegExp(`^(?:${target.name})$`).test(of));
    expect([of, matching.flatMap(({ patch }) => parse(patch) as unknown[])]).toEqual([of, additions]);
  }
});

test('the job that migrates also creates the Postgres roles of the services, with their passwords', () => {
  const job = containers.find(({ of }) => of === 'leads-migrate')?.container;
  expect(job?.command?.join(' ')).toBe('sh -c leads migrate && leads db grant');
  expect(job?.env.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['LEADS_CRM_PASSWORD_FILE', 'LEADS_INTAKE_PASSWORD_FILE']),
  );
  // The roles that `leads db grant` creates by default.
  for (const role of ['leads_crm', 'leads_intake']) expect(readme).toContain(`postgresql://${role}:`);
});

test('the job that sets up NATS has the stream settings of the services', () => {
  const maps = new Map(
    kustomizations.flatMap(({ configMapGenerator = [] }) =>
      configMapGenerator.map(({ name, literals }) => [name, literals] as const),
    ),
  );
  const ofServices = ['leads-crm', 'leads-intake'].flatMap((name) => maps.get(name) ?? []);
  expect(maps.get('leads-nats-setup')?.toSorted()).toEqual(
    ofServices.filter((literal) => /^(EVENTS_STREAM|INTAKE_BUFFER)_/.test(literal)).toSorted(),
  );
});

test('secrets are files that a command of the README creates, and no variables', () => {
  const createdSecrets = new Map(
    [...readme.matchAll(/create secret generic ([\w-]+)((?:.*\\\n)*.*)/g)].map(([, name = '', rest = '']) => [
      name,
      [...rest.matchAll(/--from-literal=(\w+)=/g)].map(([, key = '']) => key),
    ]),
  );
  for (const { of, container, volumes } of containers) {
    const files = container.volumeMounts.flatMap(({ name, mountPath }) => {
      const { secretName = '', items } = volumes.find((volume) => volume.name === name)?.secret ?? {};
      const created = createdSecrets.get(secretName) ?? [];
      for (const { key, path } of items ?? []) expect([created.includes(key), path]).toEqual([true, key]);
      const keys = items?.map(({ key }) => key) ?? created;
      return keys.map((key) => `${key}_FILE=${mountPath}/${key}`);
    });
    const variables = container.env.map(({ name, value = '' }) => `${name}=${value}`);
    expect(variables.toSorted(), `${of}: the files of its secret`).toEqual(files.toSorted());
    expect(files, of).not.toEqual([]);
  }
  // An overlay names the file of an optional secret, because a missing file is an error.
  const comments = readText('docker/kubernetes/base/kustomization.yaml');
  const crm = containers.find(({ of }) => of === 'leads-crm')?.container;
  expect(comments).toContain(`SMTP_URL_FILE=${crm?.volumeMounts[0]?.mountPath}/SMTP_URL `);
});

test('images, ports and users match the Dockerfiles', () => {
  const images = kustomizations.flatMap(({ images: each = [] }) => each);
  for (const { of, container } of containers) {
    const { stages } = parseDockerfile(
      readText(`docker/${container.image.replace('leads-', '')}.Dockerfile`),
    );
    const steps = stages.at(-1)?.steps ?? [];
    const valueOf = (kind: string) => {
      const step = steps.find((each) => each.kind === kind);
      return step !== undefined && 'value' in step ? step.value : undefined;
    };
    expect(images).toContainEqual({ name: container.image, newTag: version });
    const isService = deployments.some(({ metadata }) => metadata.name === of);
    const ports = isService ? [{ name: 'http', containerPort: Number(valueOf('expose')) }] : [];
    expect(container.ports ?? []).toEqual(ports);
    const workload = workloads.find(({ metadata }) => metadata.name === of);
    const [user, group] = (valueOf('user') ?? '').split(':').map(Number);
    expect(workload?.spec.template.spec).toMatchObject({
      // Without this, the Service leads-crm would set LEADS_CRM_PORT, and a Service named crm would set
      // CRM_PORT.
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: group,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    });
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
  }
});

test('each service has probes of its health routes and enough time to shut down', () => {
  for (const { metadata, spec } of deployments) {
    const [container] = spec.template.spec.containers;
    const probed = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;
    expect(probed.map((probe) => container?.[probe]?.httpGet)).toEqual([
      { path: '/health/live', port: 'http' },
      { path: '/health/ready', port: 'http' },
      { path: '/health/live', port: 'http' },
    ]);
    const shutdown =
      /shutdownMs = ([\d_]+)/.exec(readText('packages/http/src/service/shutdown.ts'))?.[1] ?? '';
    const graceMs = (spec.template.spec.terminationGracePeriodSeconds ?? 0) * 1000;
    expect(graceMs, metadata.name).toBeGreaterThan(Number(shutdown.replaceAll('_', '')));
    expect(spec.strategy).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } });
  }
});

test('every selector of pods matches a workload', () => {
  const selectors = [
    ...ofKind<KubernetesObject & { spec: { selector: object } }>('Service').map(({ spec }) => ({
      matchLabels: spec.selector,
    })),
    ...ofKind<KubernetesObject & { spec: { selector: object } }>('PodDisruptionBudget').map(
      ({ spec }) => spec.selector,
    ),
    ...ofKind<KubernetesObject & { spec: { podSelector: object } }>('NetworkPolicy').map(
      ({ spec }) => spec.podSelector,
    ),
    ...deployments.map(({ spec }) => spec.selector),
  ] as { matchLabels?: object; matchExpressions?: { key: string; values: string[] }[] }[];
  // The kustomization adds this label.
  const pods = workloads.map(({ spec }) =>
    Object.entries({ 'app.kubernetes.io/part-of': 'leads' }).concat(
      Object.entries(spec.template.metadata.labels),
    ),
  );
  for (const { matchLabels = {}, matchExpressions = [] } of selectors) {
    const wanted = [
      ...Object.entries(matchLabels),
      ...matchExpressions.flatMap(({ key, values }) => values.map((value) => [key, value])),
    ] as [string, string][];
    const missing = wanted.filter(
      ([key, value]) => !pods.flat().some(([name, of]) => name === key && of === value),
    );
    expect(missing).toEqual([]);
  }
  for (const { spec } of ofKind<
    KubernetesObject & { spec: { ports: { targetPort: string }[]; selector: Record<string, string> } }
  >('Service')) {
    expect(spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http']);
  }
  for (const { spec } of ofKind<KubernetesObject & { spec: { scaleTargetRef: { name: string } } }>(
    'HorizontalPodAutoscaler',
  )) {
    expect(deployments.map(({ metadata }) => metadata.name)).toContain(spec.scaleTargetRef.name);
  }
});
