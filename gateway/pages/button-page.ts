import type { Language } from '@tandem/http-kit'
import type { FastifyInstance } from 'fastify'
import { BASE_PATH } from '../routes.ts'
import { LINK_SCRIPT, serveHtmlPage } from './html-page.ts'

interface Texts {
  title: string
  question: string
  /** What else the button does. */
  warning: string
  button: string
  done: string
  expired: string
  missing: string
  failed: string
}

/**
 * Serves a page behind a link in a mail, whose only button sends the token of the link to `route`. Opening the page
 * changes nothing, because mail scanners open links too.
 */
export function serveButtonPage (
  app: FastifyInstance,
  { path, route, texts }: { path: string, route: string, texts: Record<Language, Texts> }
) {
  // Relative, in case the gateway is not at the root of its origin.
  const relativeRoute = `${BASE_PATH}${route}`.slice(1)
  const script = `${LINK_SCRIPT}
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const body = JSON.stringify({ token })
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch('${relativeRoute}', { method: 'POST', headers, body })
    const { success, code } = await response.json()
    if (success) finish('done')
    else if (code === 'INVALID_TOKEN') finish('expired')
    else showStatus(dataset.failed)
  } catch {
    showStatus(dataset.failed)
  }
})
`
  serveHtmlPage(app, { path, texts, content, script })
}

const content = ({ question, warning, button }: Texts) =>
  `<form>
<p>${question}</p>
<p>${warning}</p>
<button>${button}</button>
</form>`
