import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';
import { pageParameters } from '../paging.ts';

/** The maximum length of a note in characters. */
const maxLength = 4000;

const meanings = {
  text: 'Text of the note.',
  parentId:
    'Identifier of the note that is replied to. A reply to a reply belongs to the thread of the first note.',
} as const;

/** The body of a request that adds a note to a lead. */
export const NewLeadNote = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength,
      pattern: '^(?!\\s*$)[^\\u0000]*$',
      'x-reason': 'must not be blank, and must not hold characters that cannot be stored',
      description: `${meanings.text} At most ${maxLength} characters.`,
      examples: ['Asked for a call after 18:00.'],
    }),
    parentId: Type.Optional(id(meanings.parentId)),
  },
  { additionalProperties: false, description: 'A new note.' },
);
export type NewLeadNote = Static<typeof NewLeadNote>;

/** A note about a lead. It is personal data, which is deleted together with the lead. */
export const LeadNote = Type.Object(
  {
    id: id('Unique identifier of the note (UUID).'),
    text: Type.String({ description: meanings.text, examples: ['Asked for a call after 18:00.'] }),
    parentId: Type.Optional(id('Identifier of the note that begins the thread. Absent if this note does.')),
    authorId: id('Identifier of the user who wrote the note.'),
    author: Type.String({ description: 'Name of the user who wrote the note.', examples: ['Grace Hopper'] }),
    createdAt: dateTime('Creation time.'),
  },
  { additionalProperties: false, description: 'A note about a lead.' },
);
export type LeadNote = Static<typeof LeadNote>;

/** The response to a new note. */
export const LeadNoteAdded = Type.Object(
  {
    success: Type.Literal(true),
    note: LeadNote,
    version: Type.Integer({ description: 'Version of the lead after the note was added.', examples: [2] }),
  },
  { additionalProperties: false, description: 'The note is stored.' },
);
export type LeadNoteAdded = Static<typeof LeadNoteAdded>;

/** The query of the list of notes. */
export const LeadNoteQuery = Type.Object(pageParameters('Notes'), { additionalProperties: false });
export type LeadNoteQuery = Static<typeof LeadNoteQuery>;
