import type { FastifyInstance } from 'fastify'
import { LINK_SCRIPT, type PageTexts, relativeRoute, serveHtmlPage } from './html-page.ts'

type ButtonPage = 'restoreAddress' | 'signIn' | 'verifyEmail'

/**
 * Serves a page behind a link in a mail, whose only button sends the token of the link to `route`. Opening the page
 * changes nothing, because mail scanners open links too.
 */
export function serveButtonPage (
  app: FastifyInstance,
  { path, route, page }: { path: string, route: string, page: ButtonPage }
) {
  const script = `${LINK_SCRIPT}
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const body = JSON.stringify({ token })
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch('${relativeRoute(route)}', { method: 'POST', headers, body })
    const { success, code } = await response.json()
    if (success) finish('done')
    else if (code === 'INVALID_TOKEN') finish('expired')
    else showStatus(dataset.failed)
  } catch {
    showStatus(dataset.failed)
  }
})
`
  serveHtmlPage(app, { path, page, content, script })
}

const content = ({ question, warning, button }: PageTexts<ButtonPage>) =>
  `<form>
<p>${question}</p>
<p>${warning}</p>
<button>${button}</button>
</form>`
