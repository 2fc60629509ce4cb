/** The prefix of the public API. Services see the path without it. */
export const BASE_PATH = '/api/mobile/v1'

const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE

/** The body limit of a route that sets none. Up to this length the gateway buffers a body before it sends it on. */
export const DEFAULT_BODY_BYTES = 64 * KIBIBYTE
/** A file of 5 MiB and its multipart/form-data envelope. */
export const UPLOAD_BODY_BYTES = 5 * MEBIBYTE + 64 * KIBIBYTE
/** A video takes the rest of the form: `videoMegabytes` more. */
export const videoBodyBytes = (maxMegabytes: number) => maxMegabytes * MEBIBYTE + UPLOAD_BODY_BYTES
/** A file of health data of 25 MiB and its envelope. */
const IMPORT_BODY_BYTES = 25 * MEBIBYTE + 64 * KIBIBYTE
/** A message with an image of 5 MiB in base64. */
const IMAGE_MESSAGE_BYTES = Math.floor(7.2 * MEBIBYTE)

/** The timeout of a route that sets none. */
export const DEFAULT_TIMEOUT_MS = 3_000
/** A service decodes an image and waits for its storage, whatever length the file has. */
const UPLOAD_TIMEOUT_MS = 10_000
/** A video waits for its turn as well: 10 s for others of its account, then for others of the service. */
const VIDEO_TIMEOUT_MS = 60_000
/** Passwords wait in identity to be hashed, two at once. A sign-in that takes longer than usual is better than none. */
const PASSWORD_TIMEOUT_MS = 10_000

/** The store gets 2.5 s, twice if it is asked about its certificates too. */
const PURCHASE_TIMEOUT_MS = 8_000

/** The path prefixes that each service owns. */
export const servicePrefixes = {
  identity: ['/auth', '/account', '/subscription', '/webhooks'],
  profile: ['/onboarding', '/locations', '/profile'],
  social: ['/feed', '/stories', '/users', '/hashtags', '/media', '/reports'],
  fitmatch: ['/fitmatch', '/blocks', '/activities', '/buddies', '/venues'],
  dashboard: [
    '/dashboard',
    '/logs',
    '/imports',
    '/goals',
    '/programs',
    '/exercises',
    '/records',
    '/achievements',
    '/fasting'
  ],
  notification: ['/notifications', '/producers']
} as const

export type ServiceName = keyof typeof servicePrefixes
export const serviceNames = Object.keys(servicePrefixes) as ServiceName[]

export interface Route {
  methods: string[]
  path: string
  /** Needs no bearer token. */
  public?: boolean
  /** Every 401 is UNAUTHORIZED. */
  unauthorizedOnly?: boolean
  /** The default rate limit of one client address, such as `5/1m`, or `10/1m,1000/24h` for both. */
  limit?: string
  /** Bodies above DEFAULT_BODY_BYTES are accepted, and their responses streamed. */
  maxBodyBytes?: number
  /** Bodies up to this length are buffered; default DEFAULT_BODY_BYTES. */
  maxBufferedBytes?: number
  /** A body may also be a video. */
  takesVideos?: boolean
  /** The response can be a long file. It is streamed; timeouts are 10 s without progress. */
  isDownload?: boolean
  /** How long the service may take for its response, or without progress if it is streamed; default 3 s. */
  timeoutMs?: number
  /** A write limit of one account for this route, in addition to the one over all routes. */
  writeLimit?: keyof typeof writeLimits
  /** Bodies above UPLOAD_BODY_BYTES reach the service as they arrive: it writes them to its disk. */
  passesLongBodies?: boolean
  /** How many stored bodies above DEFAULT_BODY_BYTES the service handles at once; the others wait. */
  maxConcurrentLargeBodies?: number
}

/**
 * The default write limits of one account, by the variable that sets them: over all routes, posts, comments, and follows.
 * Those of a day bound what one account adds to the lists of others: a page reads past every row that its reader does
 * not see, so a hundred thousand posts of a person who then pauses their account would end each read of the feed.
 */
export const writeLimits = {
  LIMIT_WRITES: '300/1m',
  LIMIT_POSTS: '5000/24h',
  LIMIT_COMMENTS: '60/1m,5000/24h',
  LIMIT_FOLLOWS: '120/1m'
}

export const isReadMethod = (method: string) => readMethods.includes(method)

const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const allMethodsExcept = (method: string) => allMethods.filter((each) => each !== method)
const readMethods = ['GET', 'HEAD']
const publicPost = (path: string, limit?: string): Route => ({ methods: ['POST'], path, public: true, limit })
const passwordRoute = { timeoutMs: PASSWORD_TIMEOUT_MS }
const upload = (path: string): Route => ({
  methods: ['POST'],
  path,
  maxBodyBytes: UPLOAD_BODY_BYTES,
  timeoutMs: UPLOAD_TIMEOUT_MS
})

/**
 * The exceptions. Every other route takes any method, needs a bearer token, accepts 64 KiB, times out after 3 s and has
 * no rate limit.
 */
export const specialRoutes: Route[] = [
  // The daily limit stops enumeration of email addresses: ten a minute alone would allow 14,400 a day.
  publicPost('/auth/check-email', '10/1m,1000/24h'),
  { ...publicPost('/auth/login', '5/1m'), ...passwordRoute },
  { ...publicPost('/auth/register', '3/1h'), ...passwordRoute },
  publicPost('/auth/verify-email', '10/15m'),
  publicPost('/auth/resend-verification', '2/5m'),
  publicPost('/auth/request-code', '2/5m'),
  publicPost('/auth/login-code', '10/15m'),
  publicPost('/auth/login-link', '10/15m'),
  publicPost('/auth/login-link/network', '10/15m'),
  publicPost('/auth/verify-link', '10/15m'),
  publicPost('/auth/provider-a', '10/15m'),
  publicPost('/auth/provider-b', '10/15m'),
  publicPost('/auth/refresh', '30/1m'),
  publicPost('/auth/forgot-password', '3/1h'),
  { ...publicPost('/auth/reset-password'), ...passwordRoute },
  { methods: ['POST'], path: '/auth/change-password', ...passwordRoute },
  { methods: ['POST'], path: '/account/proof', ...passwordRoute },
  publicPost('/auth/report-issue', '3/1h'),
  publicPost('/account/deletion/link', '3/1h'),
  publicPost('/account/deletion/confirm', '3/1h'),
  publicPost('/account/appeals', '10/15m'),
  publicPost('/account/deletion/cancel', '10/15m'),
  publicPost('/notifications/trusted-contact/answer', '10/15m'),
  publicPost('/account/email/revert', '10/15m'),
  { methods: readMethods, path: '/account/deletions/:id', public: true },
  { methods: readMethods, path: '/account/export/file', public: true, isDownload: true, limit: '60/15m' },
  { methods: readMethods, path: '/auth/reset-password', public: true },
  { methods: ['POST'], path: '/auth/sessions', unauthorizedOnly: true, limit: '3/1h' },
  { methods: allMethodsExcept('POST'), path: '/auth/sessions', unauthorizedOnly: true },
  { methods: ['POST'], path: '/auth/set-initial-password', unauthorizedOnly: true, limit: '3/1h', ...passwordRoute },
  { methods: allMethodsExcept('POST'), path: '/auth/set-initial-password', unauthorizedOnly: true },

  // A store is asked, which takes up to 2.5 s, and FitMatch consumes what changed.
  { methods: ['POST'], path: '/subscription/purchases', limit: '20/1m', timeoutMs: PURCHASE_TIMEOUT_MS },
  { ...publicPost('/webhooks/app-store', '600/1m'), timeoutMs: PURCHASE_TIMEOUT_MS },
  { ...publicPost('/webhooks/google-play', '600/1m'), timeoutMs: PURCHASE_TIMEOUT_MS },
  publicPost('/webhooks/revenuecat', '600/1m'),

  // A hundred events. What their senders send in a second is limited by their keys.
  { ...publicPost('/producers/events'), maxBufferedBytes: 256 * KIBIBYTE },

  { methods: readMethods, path: '/onboarding/options', public: true },
  { methods: readMethods, path: '/locations', public: true },
  { methods: readMethods, path: '/locations/*', public: true },

  { methods: ['POST'], path: '/feed', writeLimit: 'LIMIT_POSTS' },
  { methods: ['POST'], path: '/feed/:id/comment', writeLimit: 'LIMIT_COMMENTS' },
  { methods: ['POST'], path: '/users/:userId/follow', writeLimit: 'LIMIT_FOLLOWS' },

  upload('/onboarding/upload-photo'),
  // A part of a video.
  { ...upload('/media/uploads/:id'), methods: ['PATCH'] },
  { ...upload('/media'), takesVideos: true, passesLongBodies: true, timeoutMs: VIDEO_TIMEOUT_MS },
  upload('/fitmatch/photos'),
  upload('/fitmatch/verification'),
  {
    methods: ['POST'],
    path: '/fitmatch/chat/:matchId/messages',
    maxBodyBytes: IMAGE_MESSAGE_BYTES,
    timeoutMs: UPLOAD_TIMEOUT_MS,
    maxConcurrentLargeBodies: 4
  },
  { ...upload('/imports'), maxBodyBytes: IMPORT_BODY_BYTES, passesLongBodies: true },
  // 1,000 logs.
  { methods: ['POST'], path: '/logs/batch', maxBodyBytes: 1024 * KIBIBYTE, timeoutMs: 10_000 }
]

const isUnder = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`)

/** The service that owns `path`, given without BASE_PATH. */
export const serviceOf = (path: string): ServiceName | undefined =>
  serviceNames.find((name) => servicePrefixes[name].some((prefix) => isUnder(path, prefix)))

/** Every route of a service: the special ones, and a catch-all for each of its prefixes. */
export function routesOf (service: ServiceName): Route[] {
  const special = specialRoutes.filter(({ path }) => serviceOf(path) === service)
  const taken = (method: string, path: string) =>
    special.some((route) => route.path === path && route.methods.includes(method))
  const ordinary = servicePrefixes[service].flatMap((prefix) => [prefix, `${prefix}/*`])
    .map((path) => ({ methods: allMethods.filter((method) => !taken(method, path)), path }))
  return [...special, ...ordinary.filter(({ methods }) => methods.length > 0)]
}
