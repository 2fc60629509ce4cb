import { readBrand } from '@tandem/brand-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Body, Data, data, Message, message, Secret, type Routes } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import {
  EmailChangedRecently,
  EmailNotVerified,
  ExportExpired,
  ExportLimitExceeded,
  ExportNotFound,
  ExportRunning,
  InvalidResetToken,
  ProofRequired,
  RangeNotSatisfiable
} from '../errors.ts'
import { Proof } from '../proofs/schemas.ts'
import { callerOf } from '../sessions/caller.ts'
import { cancelExport, requestExport } from './actions.ts'
import { archiveKeyOf } from './archive.ts'
import { findExportByToken, findLatestExport } from './queries.ts'
import { parseRange } from './ranges.ts'
import { Export } from './schemas.ts'

const token = Secret({ max: 100, description: 'The token of the mailed link', examples: ['q3X0b1rV0n5kZk5mZ0hJc2x1'] })

export const exportRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.post('/account/export', {
    schema: {
      operationId: 'requestDataExport',
      summary: 'Ask for a copy of everything in your account',
      description: 'Needs a proof for EXPORT. The copy is made in the background; its link comes by email, works for ' +
        'seven days, and ends with a new password or address. One at a time, one a day. Not while a change of address ' +
        'can be taken back: for seven days.',
      'x-extension': true,
      body: Body({ proof: Proof }),
      errors: [ProofRequired, EmailNotVerified, EmailChangedRecently, ExportRunning, ExportLimitExceeded],
      response: { 202: Data(Type.Object({ export: Export })) }
    }
  }, async ({ body, account }, reply) => {
    const requested = await requestExport(deps, callerOf(account), body.proof)
    return reply.code(202).send(data({ export: requested }))
  })

  app.get('/account/export', {
    schema: {
      operationId: 'getDataExport',
      summary: 'Get the state of your latest copy',
      description: 'The newest one. There is nothing here before you have asked for one.',
      'x-extension': true,
      errors: [ExportNotFound],
      response: { 200: Data(Type.Object({ export: Export })) }
    }
  }, async ({ account }) => {
    const latest = await findLatestExport(db, account.id)
    if (!latest) throw new ExportNotFound()
    return data({ export: latest })
  })

  app.delete('/account/export', {
    schema: {
      operationId: 'cancelDataExport',
      summary: 'Delete your latest copy, or stop making it',
      description: 'Its link ends at once.',
      'x-extension': true,
      errors: [ExportNotFound],
      response: { 200: Message }
    }
  }, async ({ account }) => {
    await cancelExport(db, callerOf(account))
    return message('The copy of your data is deleted')
  })

  // Without it, the framework would read the whole file to answer a HEAD request.
  app.head('/account/export/file', {
    schema: { hide: true, querystring: Type.Object({ token }), errors: [InvalidResetToken, ExportExpired] },
    config: { public: true }
  }, async (request, reply) => await sendArchive(deps, request, reply))

  app.get('/account/export/file', {
    schema: {
      operationId: 'downloadDataExport',
      summary: 'Download a copy with the token of the mailed link',
      description: 'A zip. A Range header continues an interrupted download; the ETag is the SHA-256 digest of the ' +
        'file.',
      'x-extension': true,
      querystring: Type.Object({ token }),
      errors: [InvalidResetToken, ExportExpired, RangeNotSatisfiable],
      response: { 200: Type.Unsafe<unknown>({ type: 'string', format: 'binary', description: 'The zip' }) }
    },
    config: { public: true }
  }, async (request, reply) => await sendArchive(deps, request, reply))
}

async function sendArchive (
  { db, privateStorage }: Deps,
  { query, headers, method }: FastifyRequest<{ Querystring: { token: string } }>,
  reply: FastifyReply
) {
  const found = await findExportByToken(db, query.token)
  if (!found) throw new InvalidResetToken()
  const { id, bytes, sha256, isValid } = found
  if (!isValid || bytes === null) throw new ExportExpired()
  const etag = `"${sha256}"`
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-disposition': `attachment; filename="${slugOf(readBrand().brand.name)}-data.zip"`
  })
  // A part of another version would not fit to what the client has.
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag
  const range = isSame ? parseRange(headers.range, bytes) : undefined
  if (range === 'UNSATISFIABLE') {
    reply.header('content-range', `bytes */${bytes}`)
    throw new RangeNotSatisfiable()
  }
  const { start, end } = range ?? { start: 0, end: bytes - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${bytes}`)
  reply.type('application/zip').header('content-length', end - start + 1)
  if (method === 'HEAD') return reply.send()
  const content = await privateStorage.read(archiveKeyOf(id), range)
  if (!content) throw new Unavailable()
  return reply.send(content)
}

/** A name as part of the name of a file. */
const slugOf = (name: string) => name.normalize('NFKD').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') || 'my'
