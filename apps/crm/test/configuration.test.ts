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

test.each([
  ['SMTP_URL', 'smtp://'],
  ['SMTP_URL', 'smtp://crm:100%@mail.example.com'],
  ['SMTP_URL', 'smtp://a.example.com,smtp://b.example.com'],
  ['MAIL_FROM', 'Leads'],
  ['MAIL_FROM', 'Leads leads@example.com'],
  ['MAIL_FROM', 'Leads <leads@example.com>\nBcc: other@example.com'],
  ['DELIVERIES_PROXY_URL', 'http://crm:100%@proxy.example.com:3128'],
  ['DELIVERIES_PROXY_URL', 'http://a.example.com,http://b.example.com'],
])('%s=%s is reported by its name', (name, value) => {
  const setting = CrmConfig.properties[name as 'SMTP_URL'];
  expect(() => loadConfig(Type.Object({ [name]: setting }), { [name]: value })).toThrow(
    new RegExp(`^${name} (must be|cannot be parsed)`),
  );
});

test.each([
  ['SMTP_URL', 'smtps://crm:100%25@mail.example.com:465'],
  ['SMTP_URL', 'smtp://[2001:db8::1]:25'],
  ['MAIL_FROM', 'leads@example.com'],
  ['MAIL_FROM', '"Leads, Inc." <leads@example.com>'],
  ['MAIL_FROM', 'Заявки <leads@example.com>'],
  ['DELIVERIES_PROXY_URL', 'http://crm:a,b@proxy.example.com:3128'],
])('%s=%s is valid', (name, value) => {
  const setting = CrmConfig.properties[name as 'SMTP_URL'];
  expect(loadConfig(Type.Object({ [name]: setting }), { [name]: value })).toEqual({ [name]: value });
});
