import { expectSettingsDocumented } from '@leads/local-stack/testing/readme';
import { test } from 'vitest';
import {
  BrokerSettings,
  GrantSettings,
  ErasureSettings,
  MigrateSettings,
  PasswordLinkSettings,
  SigningSettings,
  StoreSettings,
} from '../src/cli/settings.ts';
import { CrmConfig } from '../src/config.ts';

test("the README's configuration table is what the CRM service reads", () => {
  expectSettingsDocumented('CRM', CrmConfig.properties);
});

test("the README's configuration table is what the command line reads", () => {
  expectSettingsDocumented('`leads`', {
    ...StoreSettings.properties,
    ...MigrateSettings.properties,
    ...GrantSettings.properties,
    ...SigningSettings.properties,
    ...PasswordLinkSettings.properties,
    ...BrokerSettings.properties,
    ...ErasureSettings.properties,
  });
});
