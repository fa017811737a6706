import { loadConfig } from '@leads/http/service/config';
import { expectSettingsDocumented } from '@leads/test-kit/documents';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { CommandLineSettings } from '../src/cli/runtime/settings.ts';
import { CrmConfig } from '../src/config.ts';

test('the configuration table documents every setting of the CRM service', () => {
  expectSettingsDocumented('CRM', CrmConfig.properties);
});

test('the configuration table documents every setting of the command line', () => {
  expectSettingsDocumented('`leads`', CommandLineSettings.properties);
});

test.each([
  ['CRM service', CrmConfig],
  ['command line', CommandLineSettings],
])('the default of every setting of the %s is a valid value', (_, { properties }) => {
  for (const [name, setting] of Object.entries(properties)) {
    if (!('default' in setting)) continue;
    const loaded = loadConfig(Type.Object({ [name]: setting }), { [name]: String(setting.default) });
    expect(loaded).toEqual({ [name]: setting.default });
  }
});
