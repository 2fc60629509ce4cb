/** The services whose operators' routes the console calls. */
export const serviceNames = [
  'identity',
  'profile',
  'social',
  'fitmatch',
  'dashboard',
  'notification'
] as const

export type ServiceName = typeof serviceNames[number]
