import { on } from '@tandem/bus-kit'
import { PasswordChanged, SessionStarted } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { queueAccountMail } from './actions.ts'

export const onPasswordChanged = (deps: Deps) =>
  on(
    PasswordChanged,
    async ({ id, data: { accountId, how } }) =>
      await queueAccountMail(deps, { eventId: id, accountId, write: (templates) => templates.passwordChanged(how) })
  )

export const onSessionStarted = (deps: Deps) =>
  on(SessionStarted, async ({ id, time, data: { accountId, newDevice, deviceName, platform } }) => {
    if (!newDevice) return
    await queueAccountMail(deps, {
      eventId: id,
      accountId,
      write: (templates) => templates.newSignIn(deviceName ?? platform, time)
    })
  })
