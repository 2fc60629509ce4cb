import type { FastifyInstance } from 'fastify'
import { LINK_SCRIPT, type PageTexts, relativeRoute, serveHtmlPage } from './html-page.ts'

const route = relativeRoute('/account/appeals')

const script = `${LINK_SCRIPT}
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const body = JSON.stringify({ token, text: form.elements.text.value })
  try {
    const response = await fetch('${route}', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { success, code, error } = await response.json()
    if (success) finish('done')
    else if (code === 'APPEAL_EXISTS') finish('exists')
    else if (code === 'APPEAL_CLOSED') finish('closed')
    else if (code === 'NOT_FOUND') finish('missing')
    else showStatus(response.status === 400 ? error : dataset.failed)
  } catch {
    showStatus(dataset.failed)
  }
})
`

const form = ({ text, send }: PageTexts<'appeal'>) =>
  `<form>
<label>${text}<textarea name="text" rows="8" maxlength="5000" required autofocus></textarea></label>
<button>${send}</button>
</form>`

/** GET /appeal: the target of the link in identity's email about a decision. */
export async function serveAppealPage (app: FastifyInstance) {
  serveHtmlPage(app, { path: '/appeal', page: 'appeal', content: form, script })
}
