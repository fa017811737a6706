import { expectSettingsDocumented } from '@leads/test-kit/readme';
import { test } from 'vitest';
import { IntakeConfig } from '../src/config.ts';

test('the configuration table has what the intake reads', () => {
  expectSettingsDocumented('intake', IntakeConfig.properties);
});
