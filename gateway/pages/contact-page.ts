import type { FastifyInstance } from 'fastify'
import { LINK_SCRIPT, type PageTexts, relativeRoute, serveHtmlPage } from './html-page.ts'

const route = relativeRoute('/notifications/trusted-contact/answer')

// Opening the page changes nothing, because mail scanners open links too: only a button does.
const script = `${LINK_SCRIPT}
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const accept = event.submitter.value === 'agree'
  const body = JSON.stringify({ token, accept })
  try {
    const response = await fetch('${route}', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { success, code } = await response.json()
    if (success) finish(accept ? 'agreed' : 'declined')
    else if (code === 'INVALID_TOKEN') finish('expired')
    else if (code === 'CONTACT_DECLINED') finish('refused')
    else showStatus(dataset.failed)
  } catch {
    showStatus(dataset.failed)
  }
})
`

const content = ({ question, warning, agree, decline }: PageTexts<'contact'>) =>
  `<form>
<p>${question}</p>
<p>${warning}</p>
<button value="agree">${agree}</button>
<button value="decline">${decline}</button>
</form>`

/** GET /trusted-contact: the target of the links in the emails to a trusted contact. */
export async function serveContactPage (app: FastifyInstance) {
  serveHtmlPage(app, { path: '/trusted-contact', page: 'contact', content, script })
}
