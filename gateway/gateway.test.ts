import t from 'tap'
import { testGateway } from './testing.ts'

t.test('a request reaches the service that answers for its address, without the prefix', async (t) => {
  const { call, as } = await testGateway(t)
  for (const [path, service] of [['/auth/me', 'identity'], ['/onboarding/status', 'profile'], ['/profile', 'profile'], ['/feed?limit=2&cursor=a%20b', 'social'],
    ['/stories', 'social'], ['/users/x/follow', 'social'], ['/hashtags/trending', 'social'], ['/fitmatch/discover', 'fitmatch'],
    ['/dashboard/home', 'dashboard'], ['/logs', 'dashboard'], ['/goals', 'dashboard'], ['/programs/active', 'dashboard'], ['/records', 'dashboard'],
    ['/notifications/unread-count', 'notification']]) {
    const answer = await call(`/api/mobile/v1${path}`, { headers: as() })
    t.equal(answer.status, 200, String(path))
    t.strictSame(answer.json(), { success: true, data: { service, method: 'GET', url: path } })
  }
})
