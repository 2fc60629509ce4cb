import { on } from '@tandem/bus-kit'
import { PasswordChanged, ProviderLinked, SessionStarted } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { queueAccountMail } from './actions.ts'

export const onPasswordChanged = (deps: Deps) =>
  on(
    PasswordChanged,
    async ({ id, data: { accountId, how } }) =>
      await queueAccountMail(deps, { eventId: id, accountId, write: (templates) => templates.passwordChanged(how) })
  )

export const onProviderLinked = (deps: Deps) =>
  on(ProviderLinked, async ({ id, time, data: { accountId, provider } }) =>
    await queueAccountMail(deps, {
      eventId: id,
      accountId,
      write: (templates) => templates.providerLinked(provider, time)
    }))

export const onSessionStarted = (deps: Deps) =>
  on(SessionStarted, async ({ id, time, data: { accountId, newDevice, deviceName, platform } }) => {
    if (!newDevice) return
    await queueAccountMail(deps, {
      eventId: id,
      accountId,
      write: (templates) => templates.newSignIn(deviceName ?? platform, time)
    })
  })
