import { defineEvent } from './definitions.ts'
import { Erased } from './schemas.ts'

export const NotificationAccountErased = defineEvent('notification.account.erased.v1', Erased)
