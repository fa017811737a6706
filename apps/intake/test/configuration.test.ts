import { expectSettingsDocumented } from '@leads/test-kit/documents';
import { test } from 'vitest';
import { IntakeConfig } from '../src/config.ts';

test('the configuration table has what the intake reads', () => {
  expectSettingsDocumented('intake', IntakeConfig.properties);
});
