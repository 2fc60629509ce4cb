import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Data,
  data,
  IdempotencyHeaders,
  NextCursor,
  PageQuery,
  paginate,
  readIdempotencyKey,
  ValidationError,
  type Routes
} from '@tandem/http-kit'
import type { Media } from '@tandem/media-kit'
import { isPrivateMediaKey } from '@tandem/media-url-kit'
import type { Deps } from '../deps.ts'
import { CommentNotFound, PersonNotFound, postErrors, storyErrors, TooManyReports } from '../errors.ts'
import { ensurePerson, findToday } from '../people/actions.ts'
import { report, waitUntilBlocked } from './actions.ts'
import { listReports } from './queries.ts'
import { NewReport, Report } from './schemas.ts'

// A reporter has seen a private image that they name, but must not see it for ever.
const withEvidence = <Report extends { evidence: string[] }>(media: Media, report: Report): Report => ({
  ...report,
  evidence: report.evidence.filter((each) => !isPrivateMediaKey(each)).map((each) => media.urlOf(each))
})

export const reportRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps

  app.post('/reports', {
    schema: {
      operationId: 'reportContent',
      summary: 'Report a post, a comment, a story or a person',
      description:
        'What you cannot see, you cannot report. Reporting the same thing again returns your first report while that ' +
        'is open. At most 20 a day.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: NewReport,
      errors: [...postErrors, ...storyErrors, CommentNotFound, PersonNotFound, TooManyReports, IdempotencyConflict],
      response: { 201: Data(Type.Object({ report: Report })) }
    }
  }, async (request, reply) => {
    const { body: { targetType, targetId, reason, details, evidence = [], alsoBlock = false }, account } = request
    if (!evidence.every((url) => media.isAllowedUrl(url))) {
      throw new ValidationError('evidenceMustContainURLsOfImagesThatWereUploaded', ['evidence'])
    }
    if (targetType === 'USER') await ensurePerson(deps, targetId)
    const created = await report(
      db,
      {
        reporterId: account.id,
        targetType,
        targetId,
        reason,
        details: details || null,
        evidence: evidence.map((url) => media.toStoredValue(url)),
        alsoBlock
      },
      await findToday(deps, account.id),
      readIdempotencyKey(request)
    )
    if (alsoBlock) await waitUntilBlocked(db, created.id)
    return reply.code(201).send(data({ report: withEvidence(media, created) }))
  })

  app.get('/reports', {
    schema: {
      operationId: 'listMyContentReports',
      summary: 'List my reports of posts, comments, stories and people',
      description:
        'The newest first, each with what came of it. Reports of FitMatch profiles have a list of their own.',
      'x-extension': true,
      querystring: PageQuery(),
      response: { 200: Data(Type.Object({ reports: Type.Array(Report), nextCursor: NextCursor })) }
    }
  }, async ({ query, account }) => {
    const { page, nextCursor } = paginate(await listReports(db, account.id, query), query.limit, ({ id }) => id)
    return data({ reports: page.map((each) => withEvidence(media, each)), nextCursor })
  })
}
