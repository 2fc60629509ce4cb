import { on } from '@tandem/bus-kit'
import { PasswordChanged, SessionStarted } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { mailNotice } from './actions.ts'

export const onPasswordChanged = (deps: Deps) => on(PasswordChanged, async ({ id, data: { accountId, how } }) =>
  await mailNotice(deps, { eventId: id, accountId, write: (letters) => letters.passwordChanged(how) }))

export const onSessionStarted = (deps: Deps) => on(SessionStarted, async ({ id, time, data: { accountId, newDevice, deviceName, platform } }) => {
  if (!newDevice) return
  await mailNotice(deps, { eventId: id, accountId, write: (letters) => letters.newSignIn(deviceName ?? platform, time) })
})
