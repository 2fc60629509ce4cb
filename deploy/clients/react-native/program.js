// What an app does first, on React Native. It prints what it sees.
import 'react-native-runtime'
import { createTandem, memoryStorage, uploadOf } from '@tandem/sdk'

const print = (...values) => console.log(...values)
try {
  new URL('http://a.example').protocol = 'ws:'
  print('this is not React Native')
} catch {
  print('URL of React Native')
}

const tandem = createTandem({ url: process.env.TANDEM_URL, storage: memoryStorage() })
await tandem.signIn({ body: { email: 'ana@example.com', password: 'x' } })
// Its token has expired, so both wait for one renewal.
const [feed] = await Promise.all([tandem.listFeed({ query: { limit: 1, hashtag: 'a b&c' } }), tandem.listFeed()])
print('feed', feed.data.posts.length)
await tandem.uploadMedia(uploadOf({ uri: 'file:///photo.jpg', name: 'photo.jpg', type: 'image/jpeg' }))
const controller = new AbortController()
setTimeout(() => controller.abort(), 50)
print('aborted', (await tandem.getHome({ signal: controller.signal }).catch((error) => error)).code)

let connections = 0
const realtime = tandem.connectRealtime({
  delays: { base: 20, max: 50 },
  onConnected: (isConnected) => isConnected && connections++
})
realtime.subscribe('chat', 'm1', ({ type, data }) => {
  print(type, data.isTyping)
  if (data.isTyping) {
    realtime.pause()
    setTimeout(() => realtime.wake(), 20)
    return
  }
  print('connections', connections)
  realtime.close()
  process.exit(0)
})
