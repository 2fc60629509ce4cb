import createError from '@fastify/error'
import { Forbidden } from '@tandem/http-kit'
import { translateErrors } from '@tandem/process-kit'

export const UpgradeRequired = createError(
  'UPGRADE_REQUIRED',
  'Connect with a WebSocket, or accept text/event-stream',
  426
)

translateErrors({ UpgradeRequired }, { UpgradeRequired: 'Hubungkan dengan WebSocket, atau terima text/event-stream' })

/** What the route returns besides the errors of every route. */
export const realtimeErrors = [Forbidden, UpgradeRequired]
