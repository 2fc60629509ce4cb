import Type from 'typebox'
import { Enum, Text } from '@tandem/service-kit'

/** What a client may tell of the device that a session begins on. */
export const device = {
  deviceInfo: Type.Optional(Text({ min: 0, max: 500 })),
  deviceName: Type.Optional(Text({ min: 0, max: 200 })),
  platform: Type.Optional(Enum(['android', 'ios'])),
  appVersion: Type.Optional(Text({ min: 0, max: 50 }))
}

/** The tokens of a new or refreshed session. */
export const tokens = {
  accessToken: Type.String(),
  refreshToken: Type.String(),
  expiresIn: Type.Literal(900, { description: 'Seconds' })
}
