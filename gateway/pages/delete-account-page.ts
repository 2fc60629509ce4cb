import { readBrand } from '@tandem/brand-kit'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { type PageTexts, relativeRoute, serveHtmlPage } from './html-page.ts'

const style = `
body { max-width: 34rem; overflow-wrap: anywhere }
input[type=checkbox] { display: inline-block; width: 1.5rem; height: 1.5rem; margin: 0 .5rem 0 0; vertical-align: middle }
[role=status]:not(:empty) { padding: .6rem; border: 2px solid }
[hidden] { display: none }
`

const api = relativeRoute('')

// The mailed link has its token in the fragment, which browsers do not send to servers. The script removes it from the
// address, and so from the history. Nothing is deleted before a button is pressed: mail programs open links too.
const script = `
const forms = Object.fromEntries([...document.forms].map((form) => [form.id, form]))
const status = document.querySelector('[role=status]')
const texts = document.body.dataset
// A screen reader and a small screen then show what happened first.
status.tabIndex = -1
document.querySelector('h1').after(status)
const codes = {
  INVALID_TOKEN: 'expired', DELETION_PENDING: 'pending', DELETION_BEGUN: 'begun', NOT_FOUND: 'unknown',
  EMAIL_CHANGED_RECENTLY: 'changed', ACCOUNT_BANNED: 'canceled'
}
const states = { HELD: 'scheduled', SCHEDULED: 'scheduled', RUNNING: 'running', ERASED: 'erased', CLOSED: 'erased' }
let link = new URLSearchParams()
function show (name, date) {
  const options = { dateStyle: 'long', timeStyle: 'short' }
  const text = date ? new Intl.DateTimeFormat(document.documentElement.lang, options).format(new Date(date)) : ''
  status.textContent = texts[name].replace('{date}', text)
  status.focus()
}
function offer (...ids) {
  for (const [id, form] of Object.entries(forms)) form.hidden = !ids.includes(id)
}
async function call (path, body, headers = {}) {
  try {
    const request = body && { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
    const response = await fetch('${api}' + path, body && { ...request, body: JSON.stringify(body) })
    const answer = await response.json()
    return answer.success || codes[answer.code] || response.status !== 400
      ? answer : { success: false, text: answer.error }
  } catch {
    return { success: false }
  }
}
function refuse ({ code, text }) {
  if (text) { status.textContent = text; status.focus() } else show(codes[code] ?? 'failed')
}
const describe = ({ status: state, eraseAt }) => show(states[state] ?? 'canceled', eraseAt)
async function openLink () {
  link = new URLSearchParams(location.hash.slice(1))
  history.replaceState(null, '', location.pathname)
  status.textContent = ''
  if (link.get('token')) return offer('confirm')
  if (!link.get('id')) return offer('request')
  offer()
  const answer = await call('/account/deletions/' + encodeURIComponent(link.get('id')))
  if (!answer.success) return refuse(answer)
  const { deletion } = answer.data
  if (link.get('restore') && states[deletion.status] === 'scheduled') offer('keep')
  describe(deletion)
}
const actions = {
  async request (form) {
    const answer = await call('/account/deletion/link', { email: form.elements.email.value })
    if (!answer.success) return refuse(answer)
    offer()
    show('sent')
  },
  async confirm (form, choice) {
    const answer = await call('/account/deletion/confirm', { token: link.get('token'), immediately: choice === 'now' })
    if (!answer.success) {
      if (answer.code === 'INVALID_TOKEN') offer('request')
      return refuse(answer)
    }
    offer()
    describe(answer.data.deletion)
  },
  async keep () {
    const answer = await call('/account/deletion/cancel', { restoreToken: link.get('restore') })
    if (!answer.success) {
      // A banned account stays too, but no session starts.
      if (answer.code === 'ACCOUNT_BANNED') offer()
      return refuse(answer)
    }
    offer()
    show('kept')
    // The person signs in on their device; this page needs no session.
    await call('/auth/logout', {}, { authorization: 'Bearer ' + answer.accessToken })
  }
}
for (const [id, form] of Object.entries(forms)) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const buttons = form.querySelectorAll('button')
    for (const button of buttons) button.disabled = true
    await actions[id](form, event.submitter?.value)
    for (const button of buttons) button.disabled = false
  })
}
openLink()
// A second link opened in the same tab changes only the fragment and does not reload the page.
addEventListener('hashchange', openLink)
`

const content = (texts: PageTexts<'deleteAccount'>) => {
  const { about, email, requestLink, agree, later, now, keep } = texts
  const facts = [
    [texts.deletedHeading, texts.deletedItems],
    [texts.staysHeading, texts.staysItems],
    [texts.subscriptionsHeading, texts.subscriptionsItems],
    [`<a href="my-data">${texts.copyHeading}</a>`, texts.copyItems]
  ].map(([heading, items = '']) =>
    `<h2>${heading}</h2>\n<ul>${items.split('\n').map((item) => `<li>${item}</li>`).join('\n')}</ul>`
  )
  return `<p>${about}</p>
<form id="request" hidden>
<label>${email}<input type="email" name="email" autocomplete="email" required maxlength="254"></label>
<button>${requestLink}</button>
</form>
<form id="confirm" hidden>
<p><label><input type="checkbox" name="agree" required> ${agree}</label></p>
<button value="later">${later}</button>
<button value="now">${now}</button>
</form>
<form id="keep" hidden>
<button>${keep}</button>
</form>
${facts.join('\n')}`
}

/** GET /delete-account: deletes an account without the app, and is the target of the links in identity's mails. */
export async function serveDeleteAccountPage (
  app: FastifyInstance,
  { DEVELOPER_NAME }: Pick<Config, 'DEVELOPER_NAME'>
) {
  serveHtmlPage(app, {
    path: '/delete-account',
    page: 'deleteAccount',
    // The script puts the date where its placeholder is.
    params: { developer: DEVELOPER_NAME ?? readBrand().brand.legalName, date: '{date}' },
    content,
    script,
    style
  })
}
