import Type from 'typebox'
import { readImage, UPLOAD_BODY_LIMIT, multipartUploads } from '@tandem/media-kit'
import {
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
  Timestamp,
  Forbidden,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  AlreadyVerified,
  VerificationPending,
  ProfileMissing,
  MainPhotoNotUploaded,
  VerificationNotFound,
  AlreadyDecided
} from '../errors.ts'
import { operatorOf } from '../operators.ts'
import { readCaller } from '../people/queries.ts'
import { withPhotos } from '../photos/describe.ts'
import { CandidatePhoto } from '../photos/schemas.ts'
import { rejectionCodes, verificationStatuses } from '../tables.ts'
import { cancelVerification, decideVerification, readSelfie, submitSelfie } from './actions.ts'
import { listVerifications, readVerification } from './queries.ts'
import { Rejection } from './schemas.ts'

const Verification = named(
  'Verification',
  Type.Object({
    status: Enum(['NONE', 'PENDING', 'APPROVED', 'REJECTED']),
    reason: Nullable(Type.String(), { description: 'In the words of the operator' }),
    reasonCode: Nullable(Enum([...rejectionCodes, 'MAIN_PHOTO_CHANGED']), {
      description: 'Why it was rejected, or why it does not hold any more: the main photo changed'
    }),
    submittedAt: Nullable(Timestamp),
    decidedAt: Nullable(Timestamp)
  }, {
    examples: [{
      status: 'PENDING',
      reason: null,
      reasonCode: null,
      submittedAt: '2026-01-31T08:00:00.000Z',
      decidedAt: null
    }]
  })
)

const VerificationForOperators = named(
  'VerificationReview',
  Type.Object({
    id: Type.String(),
    accountId: Type.String(),
    profileId: Type.String(),
    displayName: Nullable(Type.String()),
    photos: Type.Array(CandidatePhoto, {
      description: 'The photos at the time the selfie was submitted. An approval covers these only'
    }),
    hasSelfie: Type.Boolean({ description: 'Whether the selfie is still available at …/:id/selfie' }),
    status: Enum(verificationStatuses),
    reason: Nullable(Type.String()),
    reasonCode: Nullable(Enum(rejectionCodes)),
    submittedAt: Timestamp,
    decidedAt: Nullable(Timestamp)
  }, {
    examples: [{
      id: '019aa1f0-0000-7000-8000-00000000000a',
      accountId: '019aa1f0-0000-7000-8000-000000000009',
      profileId: '019aa1f0-0000-7000-8000-000000000004',
      displayName: 'Ben',
      photos: [],
      hasSelfie: true,
      status: 'PENDING',
      reason: null,
      reasonCode: null,
      submittedAt: '2026-01-31T08:00:00.000Z',
      decidedAt: null
    }]
  })
)

export const verificationRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  await app.register(multipartUploads)

  app.get('/fitmatch/verification', {
    schema: {
      operationId: 'getVerification',
      summary: 'Get the status of my photo verification',
      description:
        'NONE before the first selfie. A rejection has a reason, and a `reasonCode` that apps can explain in their own words.',
      response: { 200: Data(Type.Object({ verification: Verification })) }
    }
  }, async ({ account }) => data({ verification: await readVerification(db, account.id) }))

  app.post('/fitmatch/verification', {
    schema: {
      operationId: 'submitVerification',
      summary: 'Submit a selfie to verify my photos',
      description: 'A multipart form with the image in the field `photo`: JPEG, PNG or WebP, at most 5 MB. Only ' +
        'operators see it, and it is erased 30 days after ' +
        'the decision. One can be pending, and none is needed after an approval. The main photo must be one that was ' +
        'uploaded here.',
      fileField: 'photo',
      errors: [ProfileMissing, VerificationPending, AlreadyVerified, MainPhotoNotUploaded],
      response: { 200: Data(Type.Object({ verification: Verification })) }
    },
    bodyLimit: UPLOAD_BODY_LIMIT
  }, async (request, reply) => {
    await readCaller(db, request.account.id)
    const { status } = await readVerification(db, request.account.id)
    if (status === 'PENDING') throw new VerificationPending()
    if (status === 'APPROVED') throw new AlreadyVerified()
    const selfie = await readImage(request, reply, 'photo', request.account.id)
    return data({ verification: await submitSelfie(deps, request.account.id, selfie) })
  })

  app.delete('/fitmatch/verification', {
    schema: {
      operationId: 'cancelVerification',
      summary: 'Cancel my verification and erase the selfie',
      description: 'After an approval, the profile is no longer shown as verified.',
      errors: [VerificationNotFound],
      response: { 200: Message }
    }
  }, async ({ account }) => {
    await cancelVerification(deps, account.id)
    return message('Verification canceled and selfie erased')
  })
}

export const verificationOperatorRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps
  const params = Type.Object({ id: Id })
  const onRequest = requireRole('ADMIN')

  app.get('/fitmatch/admin/verifications', {
    schema: {
      'x-extension': true,
      operationId: 'listVerificationsForReview',
      summary: 'List verifications, oldest first (operators)',
      description: 'With the photos that the selfie is compared with.',
      querystring: PageQuery({ status: Enum(verificationStatuses, { default: 'PENDING' }) }),
      errors: [Forbidden],
      response: {
        200: Data(Type.Object({ verifications: Type.Array(VerificationForOperators), nextCursor: NextCursor }))
      }
    },
    onRequest
  }, async ({ query }) => {
    const { verifications, nextCursor } = await listVerifications(db, query)
    return data({ verifications: verifications.map((verification) => withPhotos(media, verification)), nextCursor })
  })

  app.get('/fitmatch/admin/verifications/:id/selfie', {
    schema: {
      'x-extension': true,
      operationId: 'getVerificationSelfie',
      summary: 'Get a selfie (operators)',
      description: 'Each read is logged.',
      params,
      produces: ['image/webp'],
      errors: [Forbidden, VerificationNotFound],
      response: { 200: Type.Unsafe<Buffer>({ type: 'string', format: 'binary', description: 'The image' }) }
    },
    onRequest
  }, async (request, reply) => {
    const selfie = await readSelfie(deps, operatorOf(request), request.params.id)
    return reply.type('image/webp').header('cache-control', 'no-store').send(selfie)
  })

  app.post('/fitmatch/admin/verifications/:id/approve', {
    schema: {
      'x-extension': true,
      operationId: 'approveVerification',
      summary: 'Approve a verification (operators)',
      description:
        'If the main photo has changed to one that was added after the selfie, the verification is canceled instead.',
      params,
      errors: [Forbidden, VerificationNotFound, AlreadyDecided],
      response: { 200: Message }
    },
    onRequest
  }, async (request) => {
    await decideVerification(db, {
      operator: operatorOf(request),
      ownAccountId: request.account.id,
      verificationId: request.params.id,
      rejection: null
    })
    return message('Verification approved')
  })

  app.post('/fitmatch/admin/verifications/:id/reject', {
    schema: {
      'x-extension': true,
      operationId: 'rejectVerification',
      summary: 'Reject a verification (operators)',
      description: 'The person sees the reason and can submit another selfie.',
      params,
      body: Rejection,
      errors: [Forbidden, VerificationNotFound, AlreadyDecided],
      response: { 200: Message }
    },
    onRequest
  }, async (request) => {
    await decideVerification(db, {
      operator: operatorOf(request),
      ownAccountId: request.account.id,
      verificationId: request.params.id,
      rejection: request.body
    })
    return message('Verification rejected')
  })
}
