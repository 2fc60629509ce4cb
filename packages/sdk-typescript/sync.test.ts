import t, { type Test } from 'tap'
import { createTandem, memoryStorage, TandemError } from './index.ts'

interface Shown {
  status?: number
  etag?: string
  body: object
}

/** A client whose server answers each path with what `shown` has for it, or 304 if the client has it. */
function syncing (t: Test, shown: Record<string, Shown>) {
  const requests: string[] = []
  const tandem = createTandem({
    url: 'http://tandem.example',
    storage: memoryStorage({ accessToken: 'a', refreshToken: 'r' }),
    retries: { attempts: 1 },
    fetch: async ({ url, headers }) => {
      const { pathname, search } = new URL(url)
      const path = pathname.replace('/api/mobile/v1', '')
      requests.push(`${path}${search}`)
      t.equal(headers.get('authorization'), 'Bearer a')
      const { status = 200, etag = '', body } = shown[path]!
      if (etag !== '' && headers.get('if-none-match') === etag) {
        return new Response(null, { status: 304, headers: { etag } })
      }
      return Response.json(status === 200 ? { success: true, data: body } : body, { status, headers: { etag } })
    }
  })
  return { tandem, requests }
}

const chats = { newMatches: [], conversations: [], totalMatches: 0 }
const inbox = { notifications: [], nextCursor: null, unreadCount: 0 }

t.test('everything comes once, and then what has changed, in three requests each time', async (t) => {
  const shown = {
    '/dashboard/sync': { body: { home: { stats: {} }, changes: [{ id: 'log' }], cursor: '1_a.x' } },
    '/fitmatch/matches': { etag: 'W/"m1"', body: chats },
    '/notifications': { etag: 'W/"n1"', body: inbox }
  }
  const { tandem, requests } = syncing(t, shown)
  const first = await tandem.sync()
  t.match(first, { home: { stats: {} }, logs: [{ id: 'log' }], chats, notifications: inbox, cursor: String })
  t.same(requests.splice(0).sort(), ['/dashboard/sync', '/fitmatch/matches', '/notifications?limit=30'])

  shown['/dashboard/sync'].body = { home: null as never, changes: [], cursor: '1_a.x' }
  const second = await tandem.sync(first.cursor)
  const nothing = { home: undefined, logs: [], chats: undefined, notifications: undefined }
  t.strictSame(second, { ...nothing, cursor: first.cursor })
  t.same(requests.splice(0).sort(), ['/dashboard/sync?cursor=1_a.x', '/fitmatch/matches', '/notifications?limit=30'])

  shown['/notifications'] = { etag: 'W/"n2"', body: { ...inbox, unreadCount: 1 } }
  t.match(await tandem.sync(second.cursor), { home: undefined, chats: undefined, notifications: { unreadCount: 1 } })
  t.equal(requests.length, 3)
})

t.test('somebody without a FitMatch profile has no chats, and any other error is thrown', async (t) => {
  const failure = (code: string) => ({ success: false, error: 'A sentence', code })
  const shown: Record<string, Shown> = {
    '/dashboard/sync': { body: { home: null, changes: [], cursor: '1_a.x' } },
    '/fitmatch/matches': { status: 404, body: failure('PROFILE_NOT_FOUND') },
    '/notifications': { etag: 'W/"n1"', body: inbox }
  }
  const { tandem } = syncing(t, shown)
  t.match(await tandem.sync(), { chats: undefined, notifications: inbox })
  shown['/notifications'] = { status: 503, body: failure('SERVICE_UNAVAILABLE') }
  const error = await tandem.sync().catch((error: unknown) => error)
  t.ok(error instanceof TandemError)
  t.match(error, { code: 'SERVICE_UNAVAILABLE', status: 503 })
})
