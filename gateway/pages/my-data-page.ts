import type { FastifyInstance } from 'fastify'
import { type PageTexts, relativeRoute, serveHtmlPage } from './html-page.ts'

const route = relativeRoute('/account/export/file')

// The token is in the fragment, which browsers do not send to servers. The script removes it from the address, and so
// from the history.
const script = `
const texts = document.body.dataset
const section = document.querySelector('section')
const status = document.querySelector('[role=status]')
const sizeOf = (bytes) => {
  const unit = bytes < 1e6 ? ['kilobyte', 1e3] : bytes < 1e9 ? ['megabyte', 1e6] : ['gigabyte', 1e9]
  const options = { style: 'unit', unit: unit[0], maximumFractionDigits: 1 }
  return new Intl.NumberFormat(document.documentElement.lang, options).format(bytes / unit[1])
}
async function check () {
  const token = location.hash.slice(1)
  history.replaceState(null, '', location.pathname)
  section.hidden = true
  status.textContent = texts.loading
  if (!token) { status.textContent = texts.request; return }
  const url = '${route}?' + new URLSearchParams({ token })
  try {
    const response = await fetch(url, { method: 'HEAD' })
    if (response.ok) {
      document.querySelector('a').href = url
      section.hidden = false
      status.textContent = texts.ready + ' ' + sizeOf(Number(response.headers.get('content-length')))
    } else status.textContent = texts[{ 400: 'invalid', 410: 'expired' }[response.status] ?? 'failed']
  } catch {
    status.textContent = texts.failed
  }
}
check()
// A second link opened in the same tab changes only the fragment and does not reload the page.
addEventListener('hashchange', check)
`

const content = ({ intro, download, resume }: PageTexts<'myData'>) =>
  `<section hidden>
<p>${intro}</p>
<p><a download>${download}</a></p>
<p>${resume}</p>
</section>`

/** GET /my-data: the target of the link to a person's copy of their data. */
export async function serveMyDataPage (app: FastifyInstance) {
  serveHtmlPage(app, { path: '/my-data', page: 'myData', content, script })
}
