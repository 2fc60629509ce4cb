import multipart from '@fastify/multipart'
import Type from 'typebox'
import { Data, data, Enum, longRequests, Id, named, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  ImportFileTooLarge,
  ImportNotFound,
  ImportRunning,
  NotMultipart,
  TooManyImports,
  UndoExpired
} from '../errors.ts'
import { findTimezone } from '../people/actions.ts'
import { importFormats, importStatuses } from '../tables.ts'
import { createImport, startUndo } from './actions.ts'
import { MAX_FILE_BYTES, withForm } from './form.ts'
import { findImport, listImports } from './queries.ts'

const FORM_BYTES = MAX_FILE_BYTES + 64 * 1024

const Import = named(
  'Import',
  Type.Object({
    id: Type.String(),
    status: Enum(importStatuses),
    type: Enum(importFormats),
    progress: Type.Integer({ description: 'In percent' }),
    error: Nullable(Type.String({ description: 'Why it failed. Undo it if some of its entries were stored already' })),
    report: Type.Object({
      found: Type.Integer({ description: 'Entries in the file' }),
      new: Type.Integer({ description: 'Entries that were not known' }),
      merged: Type.Integer({ description: 'Workouts and sleeps that are one with others' }),
      refused: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }), {
        description: 'The first 100 entries that are no valid logs'
      }),
      refusedCount: Type.Integer()
    }),
    createdAt: Timestamp,
    finishedAt: Nullable(Timestamp)
  })
)

const example = {
  id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1d',
  status: 'DONE' as const,
  type: 'FIT' as const,
  progress: 100,
  error: null,
  report: { found: 1, new: 1, merged: 1, refused: [], refusedCount: 0 },
  createdAt: '2026-11-20T16:50:00.000Z',
  finishedAt: '2026-11-20T16:50:02.000Z'
}
const params = Type.Object({ id: Id })
const response = { 200: Data(Type.Object({ import: Import }, { examples: [{ import: example }] })) }

export const importRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  await app.register(multipart, {
    limits: { fileSize: MAX_FILE_BYTES, files: 1, fields: 5, parts: 6, fieldSize: 16 * 1024 }
  })

  app.post('/imports', {
    bodyLimit: FORM_BYTES,
    config: { longRequests },
    schema: {
      operationId: 'importFile',
      summary: 'Import a file of another app or device',
      description: 'multipart/form-data with the field `file`, at most 25 MB: FIT, GPX, TCX, CSV of Strong, Hevy or ' +
        'MyFitnessPal, the export of Apple Health, or the logs of a copy of an account. `type` says which it is, by ' +
        'default what the file looks like. `columns` names the columns of another CSV file, as JSON: ' +
        '{"type": "WEIGHT", "at": "Date", "kg": "Weight"}. The file is read in the background: ask for its progress, or listen to `import.changed` of ' +
        'the realtime connection. ' +
        'The same file again changes nothing.',
      fileField: 'file',
      formFields: {
        type: Enum(importFormats),
        columns: Type.String({ examples: ['{"type": "WEIGHT", "at": "Date", "kg": "Weight"}'] })
      },
      'x-extension': true,
      errors: [ImportRunning, TooManyImports, NotMultipart, ImportFileTooLarge],
      response: {
        201: Data(Type.Object({ import: Import }, {
          examples: [{ import: { ...example, status: 'PENDING', progress: 0, finishedAt: null } }]
        }))
      }
    }
  }, async (request, reply) => {
    const accountId = request.account.id
    const id = await withForm(
      request,
      async (form) => await createImport(db, { accountId, ...form, timezone: await findTimezone(deps, accountId) })
    )
    await deps.imports.enqueue([id])
    const created = await findImport(db, accountId, id)
    if (!created) throw new ImportNotFound()
    return reply.code(201).send(data({ import: created }))
  })

  app.get('/imports', {
    schema: {
      operationId: 'listImports',
      summary: 'List your imports, newest first',
      description: 'At most the 50 newest.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ imports: Type.Array(Import) }, { examples: [{ imports: [example] }] })) }
    }
  }, async ({ account }) => data({ imports: await listImports(db, account.id) }))

  app.get('/imports/:id', {
    schema: {
      operationId: 'getImport',
      summary: 'Get the progress and the report of an import',
      description: 'It is finished when its status is DONE or FAILED.',
      'x-extension': true,
      params,
      errors: [ImportNotFound],
      response
    }
  }, async ({ params, account }) => {
    const found = await findImport(db, account.id, params.id)
    if (!found) throw new ImportNotFound()
    return data({ import: found })
  })

  app.delete('/imports/:id', {
    schema: {
      operationId: 'undoImport',
      summary: 'Undo an import',
      description:
        'Deletes what it created, for seven days, also of one that FAILED; the file can be imported again. A large ' +
        'one is UNDOING for a while. Repeating it changes nothing.',
      'x-extension': true,
      params,
      errors: [ImportNotFound, ImportRunning, UndoExpired],
      response
    }
  }, async ({ params, account }) => {
    await startUndo(db, account.id, params.id)
    await deps.imports.enqueue([params.id])
    const found = await findImport(db, account.id, params.id)
    if (!found) throw new ImportNotFound()
    return data({ import: found })
  })
}
