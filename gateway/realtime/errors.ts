import { defineError } from '@tandem/process-kit'
import { Forbidden } from '@tandem/http-kit'

export const UpgradeRequired = defineError('UPGRADE_REQUIRED.realtime', 426)

/** What the route returns besides the errors of every route. */
export const realtimeErrors = [Forbidden, UpgradeRequired]
