import { loadConfig } from '@leads/http/service/config';
import { expectSettingsDocumented } from '@leads/test-kit/documents';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { IntakeConfig } from '../src/config.ts';

test('the configuration table documents every setting of the intake', () => {
  expectSettingsDocumented('intake', IntakeConfig.properties);
});

test('the default of every setting of the intake is a valid value', () => {
  for (const [name, setting] of Object.entries(IntakeConfig.properties)) {
    if (!('default' in setting)) continue;
    const loaded = loadConfig(Type.Object({ [name]: setting }), { [name]: String(setting.default) });
    expect(loaded).toEqual({ [name]: setting.default });
  }
});
