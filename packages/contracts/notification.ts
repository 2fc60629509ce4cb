import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Erased, erasureCheck, Id, personalData } from './schemas.ts'

/** Whether the trusted contact of an account has agreed. Only a CONFIRMED one is mailed about meetings. */
export const TrustedContactStatus = defineRpc('notification.trusted-contact.v1', {
  request: Type.Object({ accountId: Id }),
  response: Type.Enum(['NONE', 'PENDING', 'CONFIRMED', 'DECLINED'])
})

export const NotificationAccountErased = defineEvent('notification.account.erased.v1', Erased)
export const NotificationPersonalData = defineRpc('notification.personal-data.v1', personalData)
export const NotificationErasureCheck = defineRpc('notification.erasure-check.v1', erasureCheck)
