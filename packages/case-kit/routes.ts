import type { FastifyReply } from 'fastify'
import type { Kysely } from 'kysely'
import Type from 'typebox'
import {
  Body,
  Data,
  data,
  Id,
  Message,
  message,
  Nullable,
  PageQuery,
  paginate,
  Text,
  type Routes
} from '@tandem/http-kit'
import { VIDEO_TYPE, type Media } from '@tandem/media-kit'
import { isVideoKey } from '@tandem/media-url-kit'
import {
  forOperators,
  hasRole,
  Proposed,
  requireRight,
  type OperatorTables,
  type ProposalKind
} from '@tandem/operator-kit'
import { describeCase } from './decisions.ts'
import { CaseClaimed, CaseNotFound, CaseResolved, CaseRestricted } from './errors.ts'
import { changeHoldOrPropose } from './holds.ts'
import { claimCase, extendClaim, findCase, findFileKey, listCases, listReports } from './queries.ts'
import { Case, CaseSummary } from './schemas.ts'
import type { CaseTables } from './tables.ts'

// A player asks for the next part when it needs it.
const PART_BYTES = 2 * 1024 * 1024

/** Sends the part of a video that begins where the player wants it to. */
async function sendPart (media: Media, key: string, range: string | undefined, reply: FastifyReply) {
  const size = await media.size(key)
  if (size === undefined) throw new CaseNotFound()
  const start = Number(/^bytes=(\d{1,12})-/.exec(range ?? '')?.[1] ?? 0)
  if (start >= size) return await reply.code(416).header('content-range', `bytes */${size}`).send()
  const end = Math.min(start + PART_BYTES, size) - 1
  const part = await media.read(key, { start, end })
  if (!part) throw new CaseNotFound()
  return await reply.code(206).type(VIDEO_TYPE)
    .headers({
      'content-range': `bytes ${start}-${end}/${size}`,
      'content-length': end - start + 1,
      'cache-control': 'no-store'
    })
    .send(part)
}

export interface CaseRouteOptions {
  db: Kysely<CaseTables & OperatorTables>
  media: Media
  /** What needs two operators. */
  fourEyes: ReadonlySet<ProposalKind>
}

/** The cases of a service, for operators. */
export const caseRoutes: Routes<CaseRouteOptions> = async (app, options) => {
  const { db, media } = options
  const params = Type.Object({ id: Id })

  app.get('/operator/cases', {
    config: forOperators('cases.read', { person: 'accountId' }),
    schema: {
      hide: true,
      querystring: Type.Object({
        limit: PageQuery().properties.limit,
        cursor: Type.Optional(Type.String({ pattern: '^[123]:[0-9a-f-]{36}$' })),
        accountId: Type.Optional(Id)
      }),
      response: {
        200: Data(Type.Object({ cases: Type.Array(CaseSummary), nextCursor: Nullable(Type.String()) }))
      }
    }
  }, async ({ query: { limit, cursor, accountId } }) => {
    const [priority = '', id = ''] = cursor?.split(':') ?? []
    const rows = await listCases(db, {
      limit,
      accountId,
      ...(cursor !== undefined && { cursor: { priority: Number(priority), id } })
    })
    const { page, nextCursor } = paginate(rows, limit, (row) => `${row.priority}:${row.id}`)
    return data({ cases: page, nextCursor: accountId === undefined ? nextCursor : null })
  })

  app.get('/operator/cases/:id', {
    config: forOperators('cases.read'),
    schema: { hide: true, params, response: { 200: Data(Type.Object({ case: Case })) } }
  }, async ({ params: { id }, operator }) => {
    await extendClaim(db, id, operator.id)
    const found = await findCase(db, id)
    if (!found) throw new CaseNotFound()
    const reports = await listReports(db, id)
    const canSeeFiles = !found.isRestricted || hasRole(operator, 'restricted-files.read')
    const withUrls = reports.map((each) => ({
      ...each,
      evidence: canSeeFiles ? each.evidence.map((stored) => media.urlOf(stored)) : []
    }))
    return data({ case: { ...found, reports: withUrls } })
  })

  app.post('/operator/cases/:id/claim', {
    config: forOperators('cases.decide'),
    schema: {
      hide: true,
      params,
      body: Body({
        takesOver: Type.Boolean({ default: true, description: 'Whether also if another operator has claimed it' })
      }),
      response: { 200: Message }
    }
  }, async ({ params: { id }, body: { takesOver }, operator }) => {
    const found = await describeCase(db, id)
    if (!found) throw new CaseNotFound()
    if (found.isOpen && found.hidesPictures && !hasRole(operator, 'restricted-files.read')) throw new CaseRestricted()
    if (!await claimCase(db, id, { staffId: operator.id, takesOver })) {
      throw found.isOpen ? new CaseClaimed() : new CaseResolved()
    }
    return message('The case is yours for 15 minutes')
  })

  app.get('/operator/cases/:id/files/:number', {
    config: forOperators('cases.read'),
    schema: { hide: true, params: Type.Object({ id: Id, number: Type.Integer({ minimum: 1, maximum: 10_000 }) }) }
  }, async ({ params: { id, number }, headers: { range }, operator }, reply) => {
    const file = await findFileKey(db, id, number)
    if (!file) throw new CaseNotFound()
    if (file.isRestricted) requireRight(operator, 'restricted-files.read')
    if (isVideoKey(file.key)) return await sendPart(media, file.key, range, reply)
    const bytes = await media.find(file.key)
    if (!bytes) throw new CaseNotFound()
    return reply.header('cache-control', 'no-store').type('image/webp').send(bytes)
  })

  for (const change of ['hold', 'release'] as const) {
    app.post(`/operator/cases/:id/${change}`, {
      config: forOperators('holds.change'),
      schema: {
        hide: true,
        params,
        body: Body({ reason: Text({ min: 3, max: 500 }) }),
        response: { 200: Message, 202: Proposed }
      }
    }, async ({ params: { id }, body: { reason }, operator }, reply) => {
      const proposed = await changeHoldOrPropose(options, operator, id, { isHeld: change === 'hold', reason })
      return proposed
        ? reply.code(202).send(data(proposed))
        : reply.code(200).send(message(change === 'hold' ? 'The case is held' : 'The hold has ended'))
    })
  }
}
