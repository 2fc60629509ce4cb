import type { FastifyInstance } from 'fastify'
import { type PageName, type PageTexts, relativeRoute, serveHtmlPage } from './html-page.ts'

interface LinkPage<Page extends PageName> {
  path: string
  page: Page
  /** Where the form is sent. */
  route: string
  /** The HTML of the form. The value of a button names the text that is shown once it was pressed; by default `done`. */
  content: (texts: PageTexts<Page>) => string
  /** What is sent besides the token: properties of an object, in JavaScript. */
  fields?: string
  /** The texts that end it, by the code of the refusal. */
  endings: Record<string, string>
}

/**
 * Serves the page behind a link in a mail, with one form, which sends the token of the link. Opening the page changes
 * nothing, because mail scanners open links too.
 */
export function serveLinkPage<Page extends PageName> (
  app: FastifyInstance,
  { path, page, route, content, fields = '', endings }: LinkPage<Page>
) {
  serveHtmlPage(app, {
    path,
    page,
    content: (texts) => `<form>\n${content(texts)}\n</form>`,
    script: scriptOf({ route: relativeRoute(route), fields, endings })
  })
}

// The token is in the fragment, which browsers do not send to servers; links in older emails have it in the query. The
// script removes both from the address, and so from the history. The token then leaves the page only in a request body.
// A second click sends nothing while a request runs: the link works once, so its answer would be that it is not valid.
const scriptOf = ({ route, fields, endings }: { route: string, fields: string, endings: Record<string, string> }) => `
const form = document.querySelector('form')
const { dataset } = document.body
const endings = ${JSON.stringify(endings)}
const showStatus = (text) => { document.querySelector('[role=status]').textContent = text }
const finish = (name) => { form.hidden = true; showStatus(dataset[name]) }
let token, isSending
function readLink () {
  const link = new URLSearchParams(location.hash.slice(1) || location.search)
  history.replaceState(null, '', location.pathname)
  token = link.get('token')
  const { email } = form.elements
  // Some mail clients decode the plus of an address, which then reads as a space.
  if (email) email.value = (link.get('email') ?? '').replaceAll(' ', '+')
  form.hidden = false
  showStatus('')
  if (!token || email?.value === '') finish('missing')
}
readLink()
// A second link opened in the same tab changes only the fragment and does not reload the page.
addEventListener('hashchange', readLink)
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  if (isSending) return
  isSending = true
  const body = JSON.stringify({ token, ${fields} })
  try {
    const response = await fetch('${route}', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { success, code, error } = await response.json()
    if (success) finish(event.submitter?.value || 'done')
    else if (endings[code]) finish(endings[code])
    else showStatus(response.status === 400 ? error : dataset.failed)
  } catch {
    showStatus(dataset.failed)
  }
  isSending = false
})
`
