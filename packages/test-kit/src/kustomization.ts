import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';

/** The settings that `docker/kubernetes` gives a service, as its environment. */
export function kustomizedSettings(service: 'crm' | 'intake'): Record<string, string> {
  const text = readFileSync(join(repositoryRoot, 'docker/kubernetes/base/kustomization.yaml'), 'utf8');
  const [, map = ''] = text.split('\nconfigMapGenerator:\n')[1]?.split(`- name: leads-${service}\n`) ?? [];
  const [own = ''] = map.split('- name: ');
  const settings = [...own.matchAll(/^ +- ([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  if (settings.length === 0) throw new Error(`${service} has no settings there`);
  return Object.fromEntries(settings) as Record<string, string>;
}
