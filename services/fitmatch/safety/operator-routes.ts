import Type from 'typebox'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  Message,
  message,
  NextCursor,
  Nullable,
  PageQuery,
  requireRole,
  Text,
  Timestamp,
  Forbidden,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ReportNotFound } from '../errors.ts'
import { operatorOf, publishRead } from '../operators.ts'
import { reportActions, reportReasons, reportStatuses } from '../tables.ts'
import { listReports, resolveReport } from './reports.ts'

const AnyObject = Type.Object({}, { additionalProperties: true })

const Report = named(
  'ReportReview',
  Type.Object({
    id: Type.String(),
    reporterId: Type.String(),
    reportedId: Type.String({ description: 'The account. It may have deleted the profile since' }),
    reportedProfileId: Type.String(),
    reason: Enum(reportReasons),
    details: Nullable(Type.String()),
    evidence: Type.Array(Type.String()),
    profile: Type.Object({}, { additionalProperties: true, description: 'The profile at the time of the report' }),
    messages: Type.Array(AnyObject, { description: 'The last 50 messages between the two, oldest first' }),
    activity: Nullable(AnyObject, { description: 'The activity at which it happened, at the time of the report' }),
    status: Enum(reportStatuses),
    action: Nullable(Enum(reportActions)),
    note: Nullable(Type.String()),
    createdAt: Timestamp,
    resolvedAt: Nullable(Timestamp)
  }, {
    examples: [{
      id: '019aa1f0-0000-7000-8000-000000000008',
      reporterId: '019aa1f0-0000-7000-8000-000000000007',
      reportedId: '019aa1f0-0000-7000-8000-000000000009',
      reportedProfileId: '019aa1f0-0000-7000-8000-000000000004',
      reason: 'SPAM',
      details: null,
      evidence: [],
      profile: { displayName: 'Ben' },
      messages: [],
      activity: null,
      status: 'OPEN',
      action: null,
      note: null,
      createdAt: '2026-01-31T08:00:00.000Z',
      resolvedAt: null
    }]
  })
)

export const reportOperatorRoutes: Routes<Deps> = async (app, { db, media }) => {
  app.get('/fitmatch/admin/reports', {
    schema: {
      'x-extension': true,
      operationId: 'listReportsForReview',
      summary: 'List reports, those about minors first (operators)',
      description: 'Reports contain messages, so each read is logged.',
      querystring: PageQuery({ status: Enum(reportStatuses, { default: 'OPEN' }) }),
      errors: [Forbidden],
      response: { 200: Data(Type.Object({ reports: Type.Array(Report), nextCursor: NextCursor })) }
    },
    onRequest: requireRole('ADMIN')
  }, async (request) => {
    await publishRead(db, operatorOf(request), 'REPORTS_READ', null)
    const { reports, nextCursor } = await listReports(db, request.query)
    return data({
      reports: reports.map(({ copies, profile, ...report }) => {
        // The original may be deleted by now.
        const frozen = <Url extends string | null>(url: Url) => url === null ? url : copies?.[url] ?? url
        return {
          ...report,
          evidence: report.evidence.map((each) => media.urlOf(each)),
          profile: {
            ...profile,
            photos: profile.photos.map((photo) => ({ ...photo, url: media.urlOf(frozen(photo.url)) }))
          },
          messages: report.messages.map((each) => ({ ...each, imageUrl: media.urlOf(frozen(each.imageUrl)) }))
        }
      }),
      nextCursor
    })
  })

  app.post('/fitmatch/admin/reports/:id/resolve', {
    schema: {
      'x-extension': true,
      operationId: 'resolveReport',
      summary: 'Resolve a report (operators)',
      description: 'RESTORE lifts the suspension and resolves all open reports against the person.',
      params: Type.Object({ id: Id }),
      body: Body(
        { action: Enum(reportActions), note: Type.Optional(Text({ min: 0, max: 2000 })) },
        { examples: [{ action: 'DISMISS', note: 'Nothing to see' }] }
      ),
      errors: [Forbidden, ReportNotFound],
      response: { 200: Message }
    },
    onRequest: requireRole('ADMIN')
  }, async (request) => {
    const { params, body: { action, note } } = request
    await resolveReport(db, operatorOf(request), params.id, { action, note: note || null })
    return message('Report resolved')
  })
}
