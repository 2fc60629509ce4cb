import t from 'tap'
import { readGatewayConfig } from '../config.ts'
import { testGateway } from '../test/gateway.ts'

const apple = '/.well-known/apple-app-site-association'
const android = '/.well-known/assetlinks.json'
const fingerprint = (byte: string) => Array.from({ length: 32 }, () => byte).join(':')

t.test('phones learn from settings which app opens the links of this address', async (t) => {
  const { call, env } = await testGateway(t, {
    env: {
      IOS_APP_IDS: 'ABCDE12345.com.example.fit',
      ANDROID_APPS: `com.example.fit=${fingerprint('AB')}, com.example.fit=${fingerprint('CD')}`
    }
  })
  const [ofApple, ofAndroid] = await Promise.all([call(apple), call(android)])
  for (const { status, headers } of [ofApple, ofAndroid]) {
    t.match({ status, headers }, { status: 200, headers: { 'content-type': /^application\/json/ } })
  }
  t.match(JSON.parse(ofApple.body.toString()), {
    applinks: {
      details: [{
        appIDs: ['ABCDE12345.com.example.fit'],
        components: [{ '/': '/sign-in' }, {}, {}, { '/': '/invite/*' }]
      }]
    },
    webcredentials: { apps: ['ABCDE12345.com.example.fit'] }
  })
  t.match(JSON.parse(ofAndroid.body.toString()), [{
    target: { package_name: 'com.example.fit', sha256_cert_fingerprints: [fingerprint('AB'), fingerprint('CD')] }
  }])
  for (const wrong of [{ IOS_APP_IDS: 'com.example.fit' }, { ANDROID_APPS: 'com.example.fit=AB:CD' }]) {
    t.throws(() => readGatewayConfig({ ...env, ...wrong }), { name: 'ConfigError', message: Object.keys(wrong)[0]! })
  }
})

t.test('without an app there is no such file', async (t) => {
  const { call } = await testGateway(t)
  for (const path of [apple, android]) t.equal((await call(path)).status, 404)
})
