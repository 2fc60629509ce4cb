import Type from 'typebox'
import { Body, Data, data, Enum, Message, message, named, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { participantErrors, ProfileMissing } from '../errors.ts'
import { readCaller } from '../people/queries.ts'
import { deleteProfile } from '../profiles/actions.ts'
import { profileStatuses } from '../tables.ts'
import { updateSettings } from './actions.ts'

const Settings = Data(named(
  'FitMatchSettings',
  Type.Object({
    status: Enum(profileStatuses),
    showOnlineStatus: Type.Boolean(),
    showDistance: Type.Boolean(),
    showLastActive: Type.Boolean()
  }, { examples: [{ status: 'ACTIVE', showOnlineStatus: true, showDistance: true, showLastActive: false }] })
))

export const settingsRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.get('/fitmatch/settings', {
    schema: {
      operationId: 'getFitMatchSettings',
      summary: 'Get my FitMatch settings',
      description: 'Whether my profile is shown, and what others see of it.',
      errors: [ProfileMissing],
      response: { 200: Settings }
    }
  }, async ({ account }) => {
    const { status, showOnlineStatus, showDistance, showLastActive } = await readCaller(db, account.id)
    return data({ status, showOnlineStatus, showDistance, showLastActive })
  })

  app.put('/fitmatch/settings', {
    schema: {
      operationId: 'updateFitMatchSettings',
      summary: 'Pause or resume my profile, and choose what others see',
      description: 'A suspended profile can be neither paused nor resumed.',
      body: Body({
        status: Type.Optional(Enum(['ACTIVE', 'PAUSED'])),
        showOnlineStatus: Type.Optional(Type.Boolean()),
        showDistance: Type.Optional(Type.Boolean()),
        showLastActive: Type.Optional(Type.Boolean())
      }, { examples: [{ status: 'PAUSED', showOnlineStatus: true, showDistance: false, showLastActive: false }] }),
      errors: participantErrors,
      response: { 200: Settings }
    }
  }, async ({ body, account }) => data(await updateSettings(db, account.id, body)))

  app.delete('/fitmatch/settings', {
    schema: {
      operationId: 'eraseFitMatchProfile',
      summary: 'Permanently delete my matching profile',
      description: 'The same as DELETE /fitmatch/profile, with a confirmation in the body.',
      body: Body({ confirmation: Type.Literal('DELETE_MY_FITMATCH') }, {
        examples: [{ confirmation: 'DELETE_MY_FITMATCH' }]
      }),
      errors: [ProfileMissing],
      response: { 200: Message }
    }
  }, async ({ account }) => {
    await deleteProfile(deps, account.id)
    return message('Your FitMatch profile has been deleted')
  })
}
