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

test('the default of every setting of the CRM service and of the command line is a valid value', () => {
  for (const [name, setting] of Object.entries({
    ...CrmConfig.properties,
    ...CommandLineSettings.properties,
  })) {
    if (!('default' in setting)) continue;
    const loaded = loadConfig(Type.Object({ [name]: setting }), { [name]: String(setting.default) });
    expect(loaded).toEqual({ [name]: setting.default });
  }
});
