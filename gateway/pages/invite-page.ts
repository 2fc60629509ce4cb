import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { serveHtmlPage } from './html-page.ts'

const texts = {
  en: {
    title: 'You are invited',
    about: 'Somebody who trains with the app invites you. Get the app, and enter this code when you register:',
    ios: 'App Store',
    android: 'Google Play',
    noStore: 'Ask them where to get the app.'
  },
  id: {
    title: 'Anda diundang',
    about: 'Seseorang yang berlatih dengan aplikasi ini mengundang Anda. Pasang aplikasinya, lalu masukkan kode ini ' +
      'saat mendaftar:',
    ios: 'App Store',
    android: 'Google Play',
    noStore: 'Tanyakan kepadanya di mana mendapatkan aplikasinya.'
  }
}

const style = `
output { display: block; font: 2rem/2 ui-monospace, monospace; letter-spacing: .15em; text-align: center }
a { display: block; padding: .6rem 0 }
`

// As text: anybody can write a link with anything in it.
const script = `
document.querySelector('output').textContent = decodeURIComponent(location.pathname.split('/').pop())
`

type Stores = Pick<Config, 'IOS_STORE_URL' | 'ANDROID_STORE_URL'>

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

const contentFor =
  ({ IOS_STORE_URL, ANDROID_STORE_URL }: Stores) => ({ about, ios, android, noStore }: typeof texts['en']) => {
    const links = [[IOS_STORE_URL, ios], [ANDROID_STORE_URL, android]] as const
    const shown = links.flatMap(([url, name]) => url ? [`<a href="${escapeHtml(url)}">${name}</a>`] : [])
    return `<p>${about}</p>\n<output></output>\n${shown.length > 0 ? shown.join('\n') : `<p>${noStore}</p>`}`
  }

/** GET /invite/:code: the target of `shareUrl` of `GET /account/referrals`. */
export async function serveInvitePage (app: FastifyInstance, stores: Stores) {
  serveHtmlPage(app, { path: '/invite/:code', texts, content: contentFor(stores), script, style })
}
