import Type from 'typebox'
import { Body, Data, data, Enum, Message, message, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { readCaller } from '../people/queries.ts'
import { deleteProfile } from '../profiles/actions.ts'
import { updateSettings } from './actions.ts'

const Settings = Data(Type.Object({
  status: Enum(['ACTIVE', 'PAUSED', 'SUSPENDED']),
  showOnlineStatus: Type.Boolean(),
  showDistance: Type.Boolean(),
  showLastActive: Type.Boolean()
}, { examples: [{ status: 'ACTIVE', showOnlineStatus: true, showDistance: true, showLastActive: false }] }))

export const settingsRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.get('/fitmatch/settings', {
    schema: { summary: 'Get my FitMatch settings', response: { 200: Settings } }
  }, async ({ account }) => {
    const { status, showOnlineStatus, showDistance, showLastActive } = await readCaller(db, account.id)
    return data({ status, showOnlineStatus, showDistance, showLastActive })
  })

  app.put('/fitmatch/settings', {
    schema: {
      summary: 'Pause or resume my profile, and choose what others see',
      description: 'A suspended profile can be neither paused nor resumed: 403 PROFILE_SUSPENDED.',
      body: Body({
        status: Type.Optional(Enum(['ACTIVE', 'PAUSED'])),
        showOnlineStatus: Type.Optional(Type.Boolean()),
        showDistance: Type.Optional(Type.Boolean()),
        showLastActive: Type.Optional(Type.Boolean())
      }, { examples: [{ status: 'PAUSED', showOnlineStatus: true, showDistance: false, showLastActive: false }] }),
      response: { 200: Settings }
    }
  }, async ({ body, account }) => data(await updateSettings(db, account.id, body)))

  app.delete('/fitmatch/settings', {
    schema: {
      summary: 'Permanently delete my matching profile',
      body: Body({ confirmation: Type.Literal('DELETE_MY_FITMATCH') }, {
        examples: [{ confirmation: 'DELETE_MY_FITMATCH' }]
      }),
      response: { 200: Message }
    }
  }, async ({ account }) => {
    await deleteProfile(deps, account.id)
    return message('Your FitMatch profile has been deleted')
  })
}
