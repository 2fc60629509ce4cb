import path from 'node:path'
import { readMessaging } from '@tandem/nats/messaging.ts'
import t from 'tap'
import { readDocuments } from './openapi.ts'
import { listAnsweredFields, listUnansweredFields, listUnusedColumns, listUnusedEvents } from './readers.ts'
import {
  renamedFields,
  unansweredFields,
  unconsumedEvents,
  unpublishedEvents,
  unreadColumns,
  unwrittenColumns
} from './unread.ts'

const root = path.resolve(import.meta.dirname, '../..')
const messaging = readMessaging(root)
const listed = (reasons: Record<string, string[]>) => Object.values(reasons).flat().sort()
const advice = 'give each a reader and a writer, or list it in unread.ts with the reason'

t.test('every field that a client sends comes back, or has a reason', async (t) => {
  const documents = await readDocuments(root)
  const unanswered = [...listed(unansweredFields), ...Object.keys(renamedFields)].sort()
  t.same(documents.flatMap(listUnansweredFields).sort(), unanswered, advice)
  const answered = new Set(documents.flatMap(listAnsweredFields))
  t.same(Object.values(renamedFields).filter((field) => !answered.has(field)), [], 'they come back under these names')
})

t.test('every event is published and consumed', (t) => {
  const { unpublished, unconsumed } = listUnusedEvents(root, messaging)
  t.same(unpublished, listed(unpublishedEvents), advice)
  t.same(unconsumed, listed(unconsumedEvents), advice)
  t.end()
})

t.test('every column is written and read', (t) => {
  const columns = messaging.map(({ service }) => listUnusedColumns(root, service))
  t.same(columns.flatMap(({ unwritten }) => unwritten).sort(), listed(unwrittenColumns), advice)
  t.same(columns.flatMap(({ unread }) => unread).sort(), listed(unreadColumns), advice)
  t.end()
})

t.test('a field without an answer, an event without a reader and a column without either are found', async (t) => {
  const text = { type: 'string' }
  const body = (properties: object) => ({ content: { 'application/json': { schema: { type: 'object', properties } } } })
  const note = { type: 'object', properties: { title: text } }
  const document = {
    paths: {
      '/notes': {
        post: {
          requestBody: body({ title: text, mood: text, noteId: text }),
          responses: { 200: body({ note }), 400: body({ mood: text }) }
        }
      }
    }
  }
  t.same(listUnansweredFields({ name: 'notes', document }), ['notes mood'])

  const withoutReaders = messaging.map((each) => ({ ...each, consumes: [] }))
  t.ok(listUnusedEvents(root, withoutReaders).unconsumed.includes('social.post.liked.v1'))

  const folder = t.testdir({
    services: {
      notes: {
        'tables.ts': `export interface Tables {
  notes: {
    id: Generated<string>,
    title: string,
    mood_text: string,
    ghost: string
  }
}`,
        'personal-data.ts': "exported: ['mood_text', 'ghost']",
        'actions.ts':
          "await db.insertInto('notes').values({ title, mood_text: mood }); await db.selectFrom('notes').select(['id', 'title', 'ghost'])",
        migrations: {
          '001-notes.sql':
            'create table notes (\n  id uuid default uuidv7(),\n  title text,\n  mood_text text,\n  ghost text\n);'
        }
      }
    }
  })
  t.same(listUnusedColumns(folder, 'notes'), { unwritten: ['notes notes.ghost'], unread: ['notes notes.mood_text'] })
})
