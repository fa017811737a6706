import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';

/** Returns the settings that `docker/kubernetes` passes to a service as environment variables. */
export function kustomizedSettings(service: 'crm' | 'intake'): Record<string, string> {
  const text = readFileSync(join(repositoryRoot, 'docker/kubernetes/base/kustomization.yaml'), 'utf8');
  const [, map = ''] = text.split('\nconfigMapGenerator:\n')[1]?.split(`- name: leads-${service}\n`) ?? [];
  const [own = ''] = map.split('- name: ');
  const settings = [...own.matchAll(/^ +- ([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  if (settings.length === 0) throw new Error(`kustomization.yaml has no settings for ${service}`);
  return Object.fromEntries(settings) as Record<string, string>;
}
