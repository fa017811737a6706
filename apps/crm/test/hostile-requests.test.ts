import { describeHostileRequests } from '@leads/test-kit/suites/hostile-requests';
import { afterAll } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const lead = workspace.lead(owner);
await fixture.leads.insert([lead]);
await workspace.mapLandingPage('spring', workspace.demoCampaignId);
const landingPage = await fixture.landingPages.find(workspace.id, { name: 'spring' });

describeHostileRequests({
  service,
  headers: owner.headers,
  ids: [lead.id, workspace.demoCampaignId, workspace.defaultCampaignId, String(landingPage?.id)],
});
