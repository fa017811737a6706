import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';
import { LeadStatus } from '../lead/lead-status.ts';
import { disabledReasons, endpointHealth, previewedLead } from './endpoint.schema.ts';
import { bodyFormats } from './postback-request.ts';

const postbackOwners = ['user', 'workspace'] as const;

const meanings = {
  url: 'The template of the URL. Values of macros are percent-encoded, and absent values are empty.',
  method: 'The method of the request.',
  bodyFormat: 'The format of the body: a form or JSON. Only with the method POST.',
  body: 'The template of the body.',
  statuses: 'The statuses that are sent.',
  campaignCode:
    'Only leads of this campaign are sent. For them, it replaces the postback for all campaigns of the same owner and status.',
  owner:
    '`user` for the leads of the caller, or `workspace` for all leads of the workspace. Publishers can have only `user`.',
  includesImports: 'Whether the creation of imported leads is sent.',
  sendsWithoutS1: 'Whether leads without `s1` are sent.',
  answerContains:
    'A text that the first 64 KiB of an answer must contain. Other answers are failed attempts.',
  description: 'A description for people.',
} as const;

const exampleUrl =
  'https://tracker.example/postback?cid={s1}&payout={payout}&status={status:Approved=sale,Trashed=rejected}';
const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: meanings.url,
  examples: [exampleUrl],
});
const method = Type.Enum(['GET', 'POST'], { description: meanings.method, examples: ['POST'] });
const bodyFormat = Type.Enum([...bodyFormats], { description: meanings.bodyFormat, examples: ['form'] });
const body = Type.String({
  maxLength: 8_192,
  pattern: '^[^\\x00]*$',
  'x-reason': 'must not hold NUL characters',
  description: meanings.body,
  examples: ['cid={s1}'],
});
const statuses = Type.Array(LeadStatus, {
  minItems: 1,
  uniqueItems: true,
  description: meanings.statuses,
  examples: [['Approved']],
});
const campaignCode = Type.String({
  maxLength: 255,
  description: meanings.campaignCode,
  examples: ['DEMO'],
});
const owner = Type.Enum([...postbackOwners], { description: meanings.owner, examples: ['user'] });
const includesImports = Type.Boolean({ description: meanings.includesImports, examples: [false] });
const sendsWithoutS1 = Type.Boolean({ description: meanings.sendsWithoutS1, examples: [false] });
const shortText = (meaning: string, example: string) =>
  Type.String({
    maxLength: 255,
    pattern: '^\\P{Cc}*$',
    'x-reason': 'must not hold control characters',
    description: meaning,
    examples: [example],
  });
const answerContains = shortText(meanings.answerContains, 'OK');
const description = shortText(meanings.description, 'Tracker');

const fields = {
  statuses: Type.Optional(statuses),
  campaignCode: Type.Optional(campaignCode),
  includesImports: Type.Optional(includesImports),
  sendsWithoutS1: Type.Optional(sendsWithoutS1),
  answerContains: Type.Optional(answerContains),
  description: Type.Optional(description),
};
const templates = {
  method: Type.Optional(method),
  bodyFormat: Type.Optional(bodyFormat),
  body: Type.Optional(body),
};

/** The body that creates a postback. */
export const NewPostback = Type.Object(
  { url, ...templates, owner: Type.Optional(owner), ...fields },
  {
    additionalProperties: false,
    description:
      'A new postback. It is enabled. The defaults are the method GET, the status Approved, and `user` for publishers, `workspace` for others.',
  },
);
export type NewPostback = Static<typeof NewPostback>;

/** The body that changes a postback: at least one of its fields. */
export const PostbackChanges = Type.Object(
  {
    url: Type.Optional(url),
    ...templates,
    ...fields,
    enabled: Type.Optional(
      Type.Boolean({
        description:
          '`false` disables the postback. `true` enables it again and resets its failures. Changes of the time between are skipped.',
        examples: [true],
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description:
      'The fields to change. Absent fields stay as they are. An empty `body`, `campaignCode`, `answerContains` or `description` removes the value.',
  },
);
export type PostbackChanges = Static<typeof PostbackChanges>;

/** The representation of a postback. */
export const PostbackView = Type.Object(
  {
    id: id('Unique identifier of the postback (UUID).'),
    owner,
    userId: Type.Optional(id('The member whose leads are sent. Absent for a postback of the workspace.')),
    url: Type.String({ description: meanings.url, examples: [exampleUrl] }),
    method,
    bodyFormat: Type.Optional(bodyFormat),
    body: Type.Optional(Type.String({ description: meanings.body, examples: ['cid={s1}'] })),
    statuses,
    campaignCode: Type.Optional(campaignCode),
    includesImports,
    sendsWithoutS1,
    answerContains: Type.Optional(answerContains),
    description: Type.Optional(description),
    enabled: Type.Boolean({ description: 'Whether requests are sent.', examples: [true] }),
    disabledReason: Type.Optional(
      Type.Enum([...disabledReasons], {
        description: 'Why it is disabled: `user` for a request, `failing` for 3 days without a success.',
        examples: ['failing'],
      }),
    ),
    disabledAt: Type.Optional(dateTime('When it was disabled. Absent while it is enabled.')),
    ...endpointHealth,
  },
  { additionalProperties: false, description: 'A postback.' },
);
export type PostbackView = Static<typeof PostbackView>;

/** The answer to a request for one postback. */
export const PostbackAnswer = Type.Object(
  { success: Type.Literal(true), postback: PostbackView },
  { additionalProperties: false, description: 'The postback.' },
);

/** The body that renders templates with a lead. */
export const PostbackPreview = Type.Object(
  {
    url,
    ...templates,
    owner: Type.Optional(owner),
    leadId: previewedLead,
  },
  { additionalProperties: false, description: 'Templates, and the lead to render them with.' },
);
export type PostbackPreview = Static<typeof PostbackPreview>;

/** The answer to a preview. */
export const PostbackPreviewAnswer = Type.Object(
  {
    success: Type.Literal(true),
    request: Type.Object(
      {
        method,
        url: Type.String({
          description: 'The rendered URL.',
          examples: ['https://tracker.example/postback?cid=click-8f14e45f'],
        }),
        contentType: Type.Optional(
          Type.String({ description: 'The media type of the body.', examples: ['application/json'] }),
        ),
        body: Type.Optional(Type.String({ description: 'The rendered body.', examples: ['cid=click'] })),
      },
      { additionalProperties: false, description: 'The request of the current version of the lead.' },
    ),
  },
  { additionalProperties: false, description: 'The rendered request. It is not sent.' },
);

/** The representation of a preset. */
export const PostbackPresetView = Type.Object(
  {
    id: Type.String({ description: 'The name of the preset in lower case.', examples: ['keitaro'] }),
    name: Type.String({ description: 'The tracker.', examples: ['Keitaro'] }),
    url: Type.String({
      description:
        'The template of the URL. Replace the host and the words in capitals by those of the account of the tracker.',
      examples: [exampleUrl],
    }),
    statuses,
    documentation: Type.String({
      description: 'The page that documents the parameters.',
      examples: ['https://docs.keitaro.io/en/conversions-and-postback/postback.html'],
    }),
  },
  { additionalProperties: false, description: 'A template for the postback URL of a tracker.' },
);
export type PostbackPresetView = Static<typeof PostbackPresetView>;
