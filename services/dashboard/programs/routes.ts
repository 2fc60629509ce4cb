import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  NotModified,
  Body,
  Data,
  data,
  Id,
  languageOfRequest,
  readIdempotencyKey,
  Message,
  message,
  Nullable,
  IdempotencyHeaders,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ProgramNotFound, TemplateNotFound, TooManyExercises, TooManyPrograms } from '../errors.ts'
import { activateProgram, createProgram, deleteProgram, replaceProgram } from './actions.ts'
import { listPrograms, readProgram } from './queries.ts'
import { describeTemplate, example, NewProgram, parseProgram, Program, Template, toResponse } from './schemas.ts'
import { templates } from './templates.ts'

export const programRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/programs', {
    schema: {
      operationId: 'listPrograms',
      summary: 'List your training programs, newest first',
      description: 'Each with its days and exercises.',
      'x-extension': true,
      response: {
        200: Data(Type.Object({ programs: Type.Array(Program) }, { examples: [{ programs: [example] }] })),
        304: NotModified
      }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    const language = languageOfRequest(request)
    const programs = await listPrograms(db, request.account.id)
    return data({ programs: programs.map((program) => toResponse(program, language)) })
  })

  app.post('/programs', {
    schema: {
      operationId: 'createProgram',
      summary: 'Create a training program',
      description: 'At most 50 per user. A new program is not active until you activate it.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: NewProgram,
      errors: [TooManyPrograms, TooManyExercises, IdempotencyConflict],
      response: {
        201: Data(Type.Object({ program: Program }, { examples: [{ program: { ...example, isActive: false } }] }))
      }
    }
  }, async (request, reply) => {
    const owner = { accountId: request.account.id, language: languageOfRequest(request) }
    const program = await createProgram(db, owner, parseProgram(request.body), readIdempotencyKey(request))
    return reply.code(201).send(data({ program: toResponse(program, owner.language) }))
  })

  app.get('/programs/:id', {
    schema: {
      operationId: 'readProgram',
      summary: 'Read a training program',
      description: 'With its days and exercises.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [ProgramNotFound],
      response: {
        200: Data(Type.Object({ program: Program }, { examples: [{ program: example }] })),
        304: NotModified
      }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    const program = await readProgram(db, request.account.id, request.params.id)
    return data({ program: toResponse(program, languageOfRequest(request)) })
  })

  app.put(
    '/programs/:id',
    {
      schema: {
        operationId: 'replaceProgram',
        summary: 'Replace the name and the days of a training program',
        description: 'A day of the week that stays keeps its id.',
        'x-extension': true,
        params: Type.Object({ id: Id }),
        body: NewProgram,
        errors: [ProgramNotFound, TooManyExercises],
        response: { 200: Data(Type.Object({ program: Program }, { examples: [{ program: example }] })) }
      }
    },
    async (request) => {
      const owner = { accountId: request.account.id, language: languageOfRequest(request) }
      const program = await replaceProgram(db, owner, request.params.id, parseProgram(request.body))
      return data({ program: toResponse(program, owner.language) })
    }
  )

  app.get('/programs/templates', {
    schema: {
      operationId: 'listProgramTemplates',
      summary: 'List programs to start from',
      description: 'Copy one to get a program of your own.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ templates: Type.Array(Template) })), 304: NotModified }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    const language = languageOfRequest(request)
    return data({ templates: templates.map((template) => describeTemplate(template, language)) })
  })

  app.post('/programs/templates/:id/copy', {
    schema: {
      operationId: 'copyProgramTemplate',
      summary: 'Make a training program from a template',
      description: 'The copy is yours to change. It is not active until you activate it.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      params: Type.Object({ id: Type.String({ examples: ['full-body'] }) }),
      errors: [TemplateNotFound, TooManyPrograms, TooManyExercises, IdempotencyConflict],
      response: {
        201: Data(Type.Object({ program: Program }, { examples: [{ program: { ...example, isActive: false } }] }))
      }
    }
  }, async (request, reply) => {
    const template = templates.find(({ id }) => id === request.params.id)
    if (!template) throw new TemplateNotFound()
    const owner = { accountId: request.account.id, language: languageOfRequest(request) }
    const program = await createProgram(db, owner, template, readIdempotencyKey(request))
    return reply.code(201).send(data({ program: toResponse(program, owner.language) }))
  })

  app.delete('/programs/:id', {
    schema: {
      operationId: 'deleteProgram',
      summary: 'Delete a training program',
      description: 'Workouts that were logged with it stay.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [ProgramNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteProgram(db, account.id, params.id)
    return message('The program was deleted')
  })

  app.put('/programs/active', {
    schema: {
      operationId: 'activateProgram',
      summary: 'Set the active program, or null for none',
      description: 'The home screen shows the workout of the active program for today.',
      'x-extension': true,
      body: Body({ programId: Nullable(Id) }, { examples: [{ programId: example.id }] }),
      errors: [ProgramNotFound],
      response: { 200: Data(Type.Object({ program: Nullable(Program) }, { examples: [{ program: example }] })) }
    }
  }, async (request) => {
    const { body: { programId }, account } = request
    await activateProgram(db, account.id, programId)
    if (programId === null) return data({ program: null })
    const program = await readProgram(db, account.id, programId)
    return data({ program: toResponse(program, languageOfRequest(request)) })
  })
}
