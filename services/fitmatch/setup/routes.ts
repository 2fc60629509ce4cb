import Type from 'typebox'
import { Data, data, Nullable, PayloadTooLarge, ValidationError, named, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { deleteDraft, saveDraft, markTutorialSeen } from './actions.ts'
import { findDraft, hasSeenTutorial } from './queries.ts'

const MAX_DRAFT_BYTES = 32 * 1024
const MAX_DRAFT_DEPTH = 6

const exampleState = {
  step: 2,
  lookingFor: ['FEMALE'],
  interestedIn: ['gym_buddy'],
  ageMin: 24,
  ageMax: 38,
  maxDistance: 25,
  location: 'Jakarta',
  locationLat: -6.21,
  locationLng: 106.85,
  venues: [{ id: 'a', name: 'Gelora', address: 'Jalan Pintu Satu', lat: -6.2186, lng: 106.8018 }]
}
const Draft = named(
  'SetupDraft',
  Type.Object({}, {
    additionalProperties: true,
    examples: [{ ...exampleState, savedAt: '2026-01-31T08:00:00.000Z' }]
  })
)
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

export const setupRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/fitmatch/setup-draft', {
    schema: {
      operationId: 'getSetupDraft',
      summary: 'Get my setup draft',
      description: 'What I have entered so far while I create a profile; null without a draft.',
      response: { 200: Data(Type.Object({ draft: Nullable(Draft) })) }
    }
  }, async ({ account }) => data({ draft: await findDraft(db, account.id) }))

  app.post('/fitmatch/setup-draft', {
    schema: {
      operationId: 'saveSetupDraft',
      summary: 'Save my setup draft',
      description: 'Any JSON object of at most 32 KiB and 6 levels. It replaces the previous draft.',
      body: Type.Object({}, { additionalProperties: true, examples: [exampleState] }),
      response: { 200: Data(Type.Object({ draft: Draft })) }
    },
    // As many as fit into it: only its length and its depth are limited.
    config: { maxBodyValues: MAX_DRAFT_BYTES }
  }, async ({ body, account }) => {
    if (Buffer.byteLength(JSON.stringify(body)) > MAX_DRAFT_BYTES) throw new PayloadTooLarge()
    if (depthOf(body) > MAX_DRAFT_DEPTH) {
      throw new ValidationError('draftIsNestedTooDeeply')
    }
    return data({ draft: await saveDraft(db, account.id, body as Record<string, unknown>) })
  })

  app.delete('/fitmatch/setup-draft', {
    schema: {
      operationId: 'deleteSetupDraft',
      summary: 'Delete my setup draft',
      description: 'Deleting a draft that does not exist succeeds.',
      response: { 200: Data(Type.Object({ cleared: Type.Literal(true) })) }
    }
  }, async ({ account }) => {
    await deleteDraft(db, account.id)
    return data({ cleared: true })
  })

  app.get('/fitmatch/tutorial-seen', {
    schema: {
      operationId: 'getTutorialSeen',
      summary: 'Get whether I have seen the tutorial',
      description: 'On any of my devices.',
      response: { 200: Data(Type.Object({ seen: Type.Boolean() })) }
    }
  }, async ({ account }) => data({ seen: await hasSeenTutorial(db, account.id) }))

  app.post('/fitmatch/tutorial-seen', {
    schema: {
      operationId: 'markTutorialSeen',
      summary: 'Mark the tutorial as seen',
      description: '`applied` is false if there is no profile to store it in.',
      response: { 200: Data(Type.Object({ seen: Type.Literal(true), applied: Type.Boolean() })) }
    }
  }, async ({ account }) => data({ seen: true, applied: await markTutorialSeen(db, account.id) }))
}
