import { Data } from '@tandem/service-kit'
import { Type } from 'typebox'
import type { FastifyInstance } from 'fastify'
import type { Config, Limit } from '../config.ts'
import type { Document } from './join-documents.ts'
import { base, ordinaryBody, uploadBody } from '../routes.ts'

const Meta = Data(Type.Object({
  apiVersion: Type.String(),
  serverVersion: Type.String(),
  minAppVersion: Type.Object({ ios: Type.String(), android: Type.String() }, { description: 'An older app must be updated' }),
  limits: Type.Object({
    bodyBytes: Type.Integer({ description: 'The longest body, where nothing else is said' }),
    uploadBytes: Type.Integer({ description: 'The longest form with a file; the file itself has at most 5 MiB' }),
    rates: Type.Array(Type.Object({ route: Type.String(), max: Type.Integer(), windowSeconds: Type.Integer() }), { description: 'Per client address' })
  })
}))

const example = {
  success: true,
  data: {
    apiVersion: 'v1',
    serverVersion: '1.0.0',
    minAppVersion: { ios: '1.0.0', android: '1.0.0' },
    limits: { bodyBytes: ordinaryBody, uploadBytes: uploadBody, rates: [{ route: 'POST /auth/login', max: 5, windowSeconds: 60 }] }
  }
}

/** What the gateway itself answers to. */
export const metaDocument: Document = {
  paths: {
    '/meta': {
      get: {
        operationId: 'getMeta',
        tags: ['gateway'],
        summary: 'Read which versions and limits hold here',
        'x-extension': true,
        responses: { 200: { description: 'What holds here', content: { 'application/json': { schema: Meta, example } } } }
      }
    }
  }
}

type Options = Pick<Config, 'SERVER_VERSION' | 'MIN_APP_VERSION_IOS' | 'MIN_APP_VERSION_ANDROID'> & { limits: Map<string, Limit[]> }

/** GET /meta: what an app asks first. */
export async function serveMeta (app: FastifyInstance, { limits, ...config }: Options) {
  const answer = {
    success: true,
    data: {
      apiVersion: 'v1',
      serverVersion: config.SERVER_VERSION,
      minAppVersion: { ios: config.MIN_APP_VERSION_IOS, android: config.MIN_APP_VERSION_ANDROID },
      limits: {
        bodyBytes: ordinaryBody,
        uploadBytes: uploadBody,
        rates: [...limits].flatMap(([route, each]) => each.map(({ max, window }) => ({ route, max, windowSeconds: window / 1_000 })))
      }
    }
  }
  app.get(`${base}/meta`, { config: { public: true } }, async (_request, reply) => reply.header('cache-control', 'public, max-age=60').send(answer))
}
