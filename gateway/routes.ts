/** Where the interface begins. What follows it is what the services know an address by. */
export const base = '/api/mobile/v1'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** The longest body of a route that says nothing else, in bytes. Up to here a body is read whole before it is passed on. */
export const ordinaryBody = 64 * kibibyte
/** A file of 5 MiB, and what multipart/form-data puts around it. */
export const uploadBody = 5 * mebibyte + 64 * kibibyte
/** A message with a picture of 5 MiB in base64. */
const pictureMessage = Math.floor(7.2 * mebibyte)

/** What each service answers for: these addresses and all below them. */
export const services = {
  identity: ['/auth'],
  profile: ['/onboarding', '/locations', '/profile'],
  social: ['/feed', '/stories', '/users', '/hashtags', '/media'],
  fitmatch: ['/fitmatch'],
  dashboard: ['/dashboard', '/logs', '/goals', '/programs', '/records'],
  notification: ['/notifications']
} as const

export type Service = keyof typeof services
export const serviceNames = Object.keys(services) as Service[]

export interface Route {
  methods: string[]
  path: string
  /** Answers without a bearer token. */
  public?: boolean
  /** Every 401 is UNAUTHORIZED. */
  unauthorizedOnly?: boolean
  /** How often one client may ask, such as `5/1m`, or `10/1m,1000/24h` for both, unless the operator says else. */
  limit?: string
  /** The longest body, in bytes. One longer than is ordinary is streamed, and has 10 s to be answered in place of 3. */
  bodyLimit?: number
  /** A limit of writes that one account has for this route beside the one for all routes. */
  writeLimit?: keyof typeof writeLimits
  /** How many bodies longer than is ordinary may be under way at once, of all accounts together. */
  atOnce?: number
}

/** How often one account may change something, by the variable that sets it: all routes together, comments, and follows. */
export const writeLimits = { LIMIT_WRITES: '300/1m', LIMIT_COMMENTS: '60/1m', LIMIT_FOLLOWS: '120/1m' }

export const isReading = (method: string) => reading.includes(method)

const every = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const except = (method: string) => every.filter((each) => each !== method)
const reading = ['GET', 'HEAD']
const signingIn = (path: string, limit?: string): Route => ({ methods: ['POST'], path, public: true, limit })
const upload = (path: string): Route => ({ methods: ['POST'], path, bodyLimit: uploadBody })

/** The routes that are not as all others: any method, with a bearer token, 64 KiB, 3 s and no limit for an address. */
export const specialRoutes: Route[] = [
  // The day's limit is for who goes through a list of addresses; ten a minute alone would let him ask for 14,400.
  signingIn('/auth/check-email', '10/1m,1000/24h'),
  signingIn('/auth/login', '5/1m'),
  signingIn('/auth/register', '3/1h'),
  signingIn('/auth/verify-email', '10/15m'),
  signingIn('/auth/resend-verification', '2/5m'),
  signingIn('/auth/request-code', '2/5m'),
  signingIn('/auth/login-code', '10/15m'),
  signingIn('/auth/provider-a', '10/15m'),
  signingIn('/auth/provider-b', '10/15m'),
  signingIn('/auth/refresh', '30/1m'),
  signingIn('/auth/forgot-password', '3/1h'),
  signingIn('/auth/reset-password'),
  signingIn('/auth/report-issue', '3/1h'),
  { methods: reading, path: '/auth/reset-password', public: true },
  { methods: ['POST'], path: '/auth/sessions', unauthorizedOnly: true, limit: '3/1h' },
  { methods: except('POST'), path: '/auth/sessions', unauthorizedOnly: true },
  { methods: ['POST'], path: '/auth/set-initial-password', unauthorizedOnly: true, limit: '3/1h' },
  { methods: except('POST'), path: '/auth/set-initial-password', unauthorizedOnly: true },

  { methods: reading, path: '/onboarding/options', public: true },
  { methods: reading, path: '/locations', public: true },
  { methods: reading, path: '/locations/*', public: true },

  { methods: ['POST'], path: '/feed/:id/comment', writeLimit: 'LIMIT_COMMENTS' },
  { methods: ['POST'], path: '/users/:userId/follow', writeLimit: 'LIMIT_FOLLOWS' },

  upload('/onboarding/upload-photo'),
  upload('/media'),
  upload('/fitmatch/photos'),
  upload('/fitmatch/verification'),
  { methods: ['POST'], path: '/fitmatch/chat/:matchId/messages', bodyLimit: pictureMessage, atOnce: 4 },
  // 200 workouts, each with its sets.
  { methods: ['POST'], path: '/logs/batch', bodyLimit: 256 * kibibyte }
]

const isUnder = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`)

/** Which service answers for `path`, which is without the base. */
export const serviceOf = (path: string): Service | undefined =>
  serviceNames.find((name) => services[name].some((prefix) => isUnder(path, prefix)))

/** Every route of a service, the special ones and for each of its addresses the ordinary one. */
export function routesOf (service: Service): Route[] {
  const special = specialRoutes.filter(({ path }) => serviceOf(path) === service)
  const taken = (method: string, path: string) => special.some((route) => route.path === path && route.methods.includes(method))
  const ordinary = services[service].flatMap((prefix) => [prefix, `${prefix}/*`])
    .map((path) => ({ methods: every.filter((method) => !taken(method, path)), path }))
  return [...special, ...ordinary.filter(({ methods }) => methods.length > 0)]
}
