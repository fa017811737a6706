import { expectSettingsDocumented } from '@leads/test-kit/documents';
import { test } from 'vitest';
import { IntakeConfig } from '../src/config.ts';

test('the configuration table documents every setting of the intake', () => {
  expectSettingsDocumented('intake', IntakeConfig.properties);
});
