import Type from 'typebox'
import {
  Data,
  data,
  Enum,
  Id,
  languageOfRequest,
  named,
  NotModified,
  Nullable,
  Timestamp,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { listAchievements } from './queries.ts'
import { icons, kinds } from './rules.ts'

const Achievement = named(
  'Achievement',
  Type.Object({
    id: Nullable(Id, { description: 'What a post takes as its achievementId. null until it is earned' }),
    kind: Enum(kinds),
    title: Type.String(),
    description: Type.String({ description: 'How to earn it' }),
    icon: Enum([...new Set(Object.values(icons))], { description: 'What to draw; kinds of one figure share it' }),
    earnedAt: Nullable(Timestamp, { description: 'null until it is earned' }),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent' }),
    postId: Nullable(Id, { description: 'Your newest post that shows it' })
  }, {
    examples: [{
      id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a3d',
      kind: 'STREAK_7',
      title: '7 hari berturut-turut',
      description: 'Catat aktivitas 7 hari berturut-turut.',
      icon: 'streak',
      earnedAt: '2026-11-20T10:30:00.000Z',
      progress: 100,
      postId: null
    }]
  })
)

export const achievementRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/achievements', {
    schema: {
      operationId: 'listAchievements',
      summary: 'List your achievements',
      description:
        'All kinds, also those that you have not earned yet. An achievement stays, unless the log that earned it is ' +
        'deleted within 24 hours. Titles are Indonesian, unless Accept-Language prefers another language of the app.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ achievements: Type.Array(Achievement) })), 304: NotModified }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    return data({ achievements: await listAchievements(db, request.account.id, languageOfRequest(request, 'id')) })
  })
}
