import { escapeHtml, readBrand } from '@tandem/brand-kit'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { type PageTexts, serveHtmlPage } from './html-page.ts'

const style = `
output { display: block; font: 2rem/2 ui-monospace, monospace; letter-spacing: .15em; text-align: center }
a { display: block; padding: .6rem 0 }
`

// As text: anybody can write a link with anything in it.
const script = `
document.querySelector('output').textContent = decodeURIComponent(location.pathname.split('/').pop())
`

type Stores = Pick<Config, 'IOS_STORE_URL' | 'ANDROID_STORE_URL'>

const contentFor =
  ({ IOS_STORE_URL, ANDROID_STORE_URL }: Stores) => ({ about, ios, android, noStore }: PageTexts<'invite'>) => {
    const { iosStore, androidStore } = readBrand().brand.links
    const links = [[IOS_STORE_URL ?? iosStore, ios], [ANDROID_STORE_URL ?? androidStore, android]] as const
    const shown = links.flatMap(([url, name]) => url ? [`<a href="${escapeHtml(url)}">${name}</a>`] : [])
    return `<p>${about}</p>\n<output></output>\n${shown.length > 0 ? shown.join('\n') : `<p>${noStore}</p>`}`
  }

/** GET /invite/:code: the target of `shareUrl` of `GET /account/referrals`. */
export async function serveInvitePage (app: FastifyInstance, stores: Stores) {
  serveHtmlPage(app, { path: '/invite/:code', page: 'invite', content: contentFor(stores), script, style })
}
