import { on } from '@tandem/bus-kit'
import { PasswordChanged, ProviderLinked, SessionStarted } from '@tandem/contracts'
import { plainText } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import { queueAccountMail } from './actions.ts'

export const onPasswordChanged = (deps: Deps) =>
  on(
    PasswordChanged,
    async ({ id, time, data: { accountId, how } }) =>
      await queueAccountMail(deps, { eventId: id, accountId, kind: 'passwordChanged', params: { how }, at: time })
  )

export const onProviderLinked = (deps: Deps) =>
  on(ProviderLinked, async ({ id, time, data: { accountId, provider } }) =>
    await queueAccountMail(deps, {
      eventId: id,
      accountId,
      kind: 'providerLinked',
      params: { provider },
      at: time
    }))

export const onSessionStarted = (deps: Deps) =>
  on(SessionStarted, async ({ id, time, data: { accountId, newDevice, deviceName, platform } }) => {
    if (!newDevice) return
    const device = deviceName ?? platform
    await queueAccountMail(deps, {
      eventId: id,
      accountId,
      kind: 'newSignIn',
      params: { device: device === null ? 'none' : plainText(device) },
      at: time
    })
  })
