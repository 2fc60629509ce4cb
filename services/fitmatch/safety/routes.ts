import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import type { Media } from '@tandem/media-kit'
import { isPrivateMediaKey } from '@tandem/media-url-kit'
import {
  Body,
  ClientUrl,
  Data,
  data,
  Enum,
  Id,
  readIdempotencyKey,
  Message,
  message,
  Nullable,
  IdempotencyHeaders,
  Text,
  Timestamp,
  ValidationError,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ActivityNotFound, ProfileNotFound, BlockNotFound, TooManyReports } from '../errors.ts'
import { waitUntilPropagated } from '../propagation.ts'
import { reportReasons, reportStatuses } from '../tables.ts'
import { blockProfile, listBlocks, unblock } from './blocks.ts'
import { checkReporter } from './reporters.ts'
import { listOwnReports, reportProfile } from './reports.ts'

const BlockedUser = named(
  'BlockedPerson',
  Type.Object({
    profileId: Type.String(),
    displayName: Type.String(),
    reason: Nullable(Type.String()),
    blockedAt: Timestamp
  }, {
    examples: [{
      profileId: '019aa1f0-0000-7000-8000-000000000004',
      displayName: 'Ben',
      reason: null,
      blockedAt: '2026-01-31T08:00:00.000Z'
    }]
  })
)

const Report = named(
  'Report',
  Type.Object({
    id: Type.String(),
    reportedProfileId: Type.String(),
    reason: Enum(reportReasons),
    details: Nullable(Type.String()),
    evidence: Type.Array(Type.String()),
    activityId: Nullable(Type.String(), { description: 'The activity at which it happened' }),
    status: Enum(reportStatuses),
    outcome: Nullable(Enum(['ACTION_TAKEN', 'NO_VIOLATION']), { description: 'Null while the report is open' }),
    state: Enum(['OPEN', 'ACTION_TAKEN', 'NO_VIOLATION'], {
      description: 'What came of it, without saying what was done'
    }),
    createdAt: Timestamp
  }, {
    examples: [{
      id: '019aa1f0-0000-7000-8000-000000000008',
      reportedProfileId: '019aa1f0-0000-7000-8000-000000000004',
      reason: 'SPAM',
      details: null,
      evidence: [],
      activityId: null,
      status: 'OPEN',
      outcome: null,
      state: 'OPEN',
      createdAt: '2026-01-31T08:00:00.000Z'
    }]
  })
)

/** A report as its author sees it. It leaves out chat images, because the chat may have ended. */
const withEvidence = <Evidence extends { evidence: string[] }>(media: Media, report: Evidence): Evidence => ({
  ...report,
  evidence: report.evidence.filter((each) => !isPrivateMediaKey(each)).map((each) => media.urlOf(each))
})

export const safetyRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps

  app.post('/fitmatch/block', {
    schema: {
      operationId: 'blockPerson',
      summary: 'Block a person',
      description: 'Neither can find the other anywhere. The match ends, and the swipes between the two are deleted.',
      body: Body({ blockedProfileId: Id, reason: Type.Optional(Text({ min: 0, max: 500 })) }, {
        examples: [{ blockedProfileId: '019aa1f0-0000-7000-8000-000000000004', reason: 'Rude' }]
      }),
      errors: [ProfileNotFound],
      response: { 200: Message }
    }
  }, async ({ body, account }) => {
    await blockProfile(db, account.id, body.blockedProfileId, body.reason || null)
    await waitUntilPropagated(deps, account.id, body.blockedProfileId)
    return message('Person blocked')
  })

  app.get('/fitmatch/block', {
    schema: {
      operationId: 'listBlockedPeople',
      summary: 'List the people I have blocked',
      description: 'The newest first.',
      response: { 200: Data(Type.Object({ blockedUsers: Type.Array(BlockedUser) })) }
    }
  }, async ({ account }) => data({ blockedUsers: await listBlocks(db, account.id) }))

  app.delete('/fitmatch/block', {
    schema: {
      operationId: 'unblockPerson',
      summary: 'Unblock a person',
      description: 'Swipes and the match are not restored. Somebody I blocked by account too stays blocked.',
      querystring: Type.Object({ profileId: Id }),
      errors: [ProfileNotFound, BlockNotFound],
      response: { 200: Message }
    }
  }, async ({ query, account }) => {
    await unblock(db, account.id, query.profileId)
    await waitUntilPropagated(deps, account.id, query.profileId)
    return message('Person unblocked')
  })

  app.post('/fitmatch/report', {
    schema: {
      operationId: 'reportPerson',
      summary: 'Report and block a person',
      description: 'At most ten a day. Operators see every report. Only reports from people with a ' +
        'verified email address count towards a suspension. ' +
        'A person I was matched with can be reported for 30 days after either of us has left the match, and a person ' +
        'of an activity for 30 days after its end. The report keeps a copy of the activity.',
      headers: IdempotencyHeaders,
      body: Body({
        reportedProfileId: Id,
        reason: Enum(reportReasons),
        details: Type.Optional(Text({ min: 0, max: 2000 })),
        evidence: Type.Optional(Type.Array(ClientUrl, { maxItems: 10, description: 'URLs of screenshots' })),
        activityId: Type.Optional({ ...Id, description: 'The activity at which it happened: one that we were both in' })
      }, {
        examples: [{
          reportedProfileId: '019aa1f0-0000-7000-8000-000000000004',
          reason: 'HARASSMENT',
          details: 'Insults',
          evidence: []
        }]
      }),
      errors: [ProfileNotFound, ActivityNotFound, TooManyReports, IdempotencyConflict],
      response: { 201: Data(Type.Object({ report: Report })) }
    }
  }, async (request, reply) => {
    const { body: { reportedProfileId, reason, details, evidence = [], activityId = null }, account } = request
    if (!evidence.every(media.isAllowedUrl)) {
      throw new ValidationError('evidenceMustContainURLsOfImagesThatWereUploaded', ['evidence'])
    }
    const report = await reportProfile(
      db,
      account.id,
      {
        reportedProfileId,
        reason,
        details: details || null,
        evidence: evidence.map((url) => media.toStoredValue(url)),
        activityId
      },
      readIdempotencyKey(request)
    )
    // The report is stored whatever identity responds. Housekeeping checks again.
    await Promise.all([
      waitUntilPropagated(deps, account.id, reportedProfileId),
      checkReporter(deps, account.id).catch((error: unknown) =>
        request.log.warn({ err: error }, 'could not check whether the reporter has a verified email address')
      )
    ])
    return reply.code(201).send(data({ report: withEvidence(media, report) }))
  })

  app.get(
    '/fitmatch/report',
    {
      schema: {
        operationId: 'listMyReports',
        summary: 'List my reports',
        description: 'With their status; the newest first.',
        response: { 200: Data(Type.Object({ reports: Type.Array(Report) })) }
      }
    },
    async ({ account }) =>
      data({ reports: (await listOwnReports(db, account.id)).map((report) => withEvidence(media, report)) })
  )
}
