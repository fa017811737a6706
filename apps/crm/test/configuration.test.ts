import { expectSettingsDocumented } from '@leads/test-kit/documents';
import { test } from 'vitest';
import { CommandLineSettings } from '../src/cli/runtime/settings.ts';
import { CrmConfig } from '../src/config.ts';

test('the configuration table documents every setting of the CRM service', () => {
  expectSettingsDocumented('CRM', CrmConfig.properties);
});

test('the configuration table documents every setting of the command line', () => {
  expectSettingsDocumented('`leads`', CommandLineSettings.properties);
});
