import type { FastifyInstance } from 'fastify'
import { type PageTexts, relativeRoute, serveHtmlPage } from './html-page.ts'

const route = relativeRoute('/auth/reset-password')

// The token is in the fragment, which browsers do not send to servers; links in older emails have it in the query. The
// script removes both from the address, and so from the history. The token then leaves the page only in a request body.
const script = `
const form = document.querySelector('form')
const showStatus = (text) => { document.querySelector('[role=status]').textContent = text }
const finish = (name) => { form.hidden = true; showStatus(document.body.dataset[name]) }
let token, email
function readLink () {
  const link = new URLSearchParams(location.hash.slice(1) || location.search)
  token = link.get('token')
  // Some mail clients decode the plus of an address, which then reads as a space.
  email = (link.get('email') ?? '').replaceAll(' ', '+')
  history.replaceState(null, '', location.pathname)
  form.elements.email.value = email
  form.hidden = false
  showStatus('')
  if (!token || !email) finish('missing')
}
readLink()
// A second link opened in the same tab changes only the fragment and does not reload the page.
addEventListener('hashchange', readLink)
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const body = JSON.stringify({ token, email, password: form.elements.password.value })
  try {
    const response = await fetch('${route}', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { success, code, error } = await response.json()
    if (success) finish('done')
    else if (code === 'INVALID_TOKEN') finish('expired')
    else showStatus(response.status === 400 ? error : document.body.dataset.failed)
  } catch {
    showStatus(document.body.dataset.failed)
  }
})
`

const form = ({ password, save }: PageTexts<'reset'>) =>
  `<form>
<input type="email" name="email" autocomplete="username" hidden>
<label>${password}<input type="password" name="password" autocomplete="new-password" required autofocus
  minlength="8" maxlength="128"></label>
<button>${save}</button>
</form>`

/** GET /reset-password: the target of the link in identity's email on devices where the app does not open it. */
export async function serveResetPage (app: FastifyInstance) {
  serveHtmlPage(app, { path: '/reset-password', page: 'reset', content: form, script })
}
