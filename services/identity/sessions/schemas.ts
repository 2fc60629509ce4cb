import Type from 'typebox'
import { ACCESS_TOKEN, ClientDetail, Enum } from '@tandem/http-kit'

/** The device on which a session starts, as the client describes it. */
export const device = {
  deviceInfo: Type.Optional(ClientDetail({ max: 500, examples: ['Pixel 9, Android 16'] })),
  deviceName: Type.Optional(ClientDetail({ max: 200, examples: ["Ana's phone"] })),
  platform: Type.Optional(Enum(['android', 'ios'], { transform: ['trim', 'toLowerCase'] })),
  appVersion: Type.Optional(ClientDetail({ max: 50, examples: ['2.4.0'] })),
  deviceId: Type.Optional(
    ClientDetail({ max: 200, examples: ['5f0c1c1e-6f0e-4a41-8f0e-0d6b1c2a9b7d'] })
  )
}

export type Device = Type.Static<Type.TObject<typeof device>>

/** The tokens of a new or refreshed session. */
export const tokens = {
  accessToken: Type.String({
    description: 'A JWT for the header `Authorization: Bearer …`',
    examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIwMTlh…']
  }),
  refreshToken: Type.String({ description: 'Can be exchanged once, within 30 days', examples: ['8Xh3c0yJ2m…'] }),
  expiresIn: Type.Literal(ACCESS_TOKEN.lifetimeSeconds, { description: 'Seconds until the access token expires' })
}
