import { expectSettingsDocumented } from '@leads/local-stack/testing/readme';
import { test } from 'vitest';
import { CrmConfig, OperatorConfig } from '../src/config.ts';

test("the README's configuration table is what the CRM service reads", () => {
  expectSettingsDocumented('CRM', CrmConfig.properties);
});

test("the README's configuration table is what the command line reads", () => {
  expectSettingsDocumented('`leads`', OperatorConfig.properties);
});
