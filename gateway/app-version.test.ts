import t from 'tap'
import { testGateway } from './test/gateway.ts'

t.test('a version that is too old must update, with or without a token', async (t) => {
  const { call, as } = await testGateway(t, {
    env: {
      MIN_APP_VERSION_IOS: '2.4',
      MIN_APP_VERSION_ANDROID: '3.0.1',
      IOS_STORE_URL: 'https://apps.apple.com/app/id1'
    }
  })
  const send = async (platform: string, version: string, path = '/api/mobile/v1/dashboard/home', signedIn = true) => {
    const headers = { 'x-platform': platform, 'x-app-version': version }
    return await call(path, { headers: { ...headers, ...signedIn && as() } })
  }
  for (const signedIn of [true, false]) {
    const refused = await send('ios', '2.3.9', undefined, signedIn)
    t.equal(refused.status, 426)
    t.match(refused.json(), {
      success: false,
      code: 'UPGRADE_REQUIRED',
      storeUrl: 'https://apps.apple.com/app/id1'
    })
  }
  const tooOld = [['iOS', '2'], ['android', '3.0.0'], ['android', '3.0.0-beta'], ['ios', '1.9.9 (421)']]
  for (const [platform = '', version = ''] of tooOld) {
    t.equal((await send(platform, version)).status, 426, `${platform} ${version}`)
  }
  const supported = [
    ['ios', '2.4'],
    ['ios', '2.4.0'],
    ['ios', '10.0'],
    ['android', '3.0.1'],
    ['android', '3.1-rc'],
    ['web', '0.1'],
    ['ios', ''],
    ['ios', 'v1'],
    ['ios', '1.x'],
    ['ios', '9'.repeat(400)],
    ['', '0.1'],
    ['constructor', '0.1']
  ]
  for (const [platform = '', version = ''] of supported) {
    t.equal((await send(platform, version)).status, 200, `${platform} ${version}`)
  }
  t.equal((await send('ios', '0.1', '/api/mobile/v1/meta', false)).status, 200, 'it learns here which version it needs')
  t.equal((await send('ios', '0.1', '/health/live', false)).status, 200)
})
