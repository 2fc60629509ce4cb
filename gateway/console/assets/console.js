// The only script of the console: passkeys, keys and dialogs. Everything but the passkey works without it.

const encode = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0))

async function post (path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

function describe (credential) {
  const { response } = credential
  const fields = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']
  const encoded = fields.filter((name) => response[name]).map((name) => [name, encode(response[name])])
  return {
    id: credential.id,
    rawId: encode(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: { ...Object.fromEntries(encoded), transports: response.getTransports?.() }
  }
}

const withIds = (list = []) => list.map((each) => ({ ...each, id: decode(each.id) }))

async function createPasskey (options) {
  return await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: decode(options.challenge),
      user: { ...options.user, id: decode(options.user.id) },
      excludeCredentials: withIds(options.excludeCredentials)
    }
  })
}

const findPasskey = async (options) =>
  await navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: decode(options.challenge),
      allowCredentials: withIds(options.allowCredentials)
    }
  })

// The link of an invitation has its token in the fragment. It leaves the address bar, and so the history.
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? undefined
if (token) history.replaceState(null, '', location.pathname)

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { passkey: path, next, missing } = form.dataset
  const alert = form.querySelector('[role=alert]')
  const button = form.querySelector('button')
  if (missing && !token) {
    alert.textContent = missing
    button.hidden = true
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    alert.textContent = ''
    button.disabled = true
    try {
      if (!window.PublicKeyCredential) throw new Error(document.body.dataset.noPasskey)
      const options = await post(`${path}/options`, { token })
      const credential = options.rp ? await createPasskey(options) : await findPasskey(options)
      await post(path, { token, response: describe(credential) })
      if (next) location.assign(next)
      else form.submit()
    } catch (error) {
      const isRefusal = error instanceof DOMException || error instanceof TypeError || !error.message
      alert.textContent = isRefusal ? document.body.dataset.failed : error.message
      button.disabled = false
    }
  })
}

// A second click while the answer is on its way would send a form again: a broadcast to everybody, for example.
let sentForms = new WeakSet()
addEventListener('submit', (event) => {
  if (event.defaultPrevented || event.target.method !== 'post') return
  if (sentForms.has(event.target)) return event.preventDefault()
  sentForms.add(event.target)
})
addEventListener('pageshow', () => {
  sentForms = new WeakSet()
})

// Dialogs: a form with data-confirm asks first.
const dialog = document.querySelector('#confirm')
for (const button of document.querySelectorAll('button[data-confirm]')) {
  button.addEventListener('click', (event) => {
    if (!button.form.reportValidity()) return event.preventDefault()
    event.preventDefault()
    dialog.querySelector('p').textContent = button.dataset.confirm
    dialog.returnValue = ''
    dialog.onclose = () => {
      if (dialog.returnValue !== 'yes') return
      button.removeAttribute('data-confirm')
      button.form.requestSubmit(button)
    }
    dialog.showModal()
  })
}
for (const button of document.querySelectorAll('button[data-dialog]')) {
  button.addEventListener('click', () => document.getElementById(button.dataset.dialog).showModal())
}

// Keys. They do nothing while a text is written, or with a modifier.
const rows = [...document.querySelectorAll('[data-row]')]
function move (step) {
  const at = rows.indexOf(document.activeElement.closest('[data-row]'))
  const row = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))]
  row?.querySelector('a').focus()
}
const press = (key) => {
  const target = document.querySelector(`main [data-key="${key}"]`)
  if (!target) return false
  if (target.matches('input[type=radio], textarea, input[type=text], select')) {
    target.focus()
    if (target.type === 'radio') target.checked = true
  } else target.click()
  return true
}
function lift (number) {
  const picture = document.querySelectorAll('details.picture')[number - 1]
  if (!picture) return
  if (!picture.open) picture.open = true
  else picture.querySelector('input').click()
  picture.querySelector('summary').focus()
}
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
  if (event.target.matches('textarea, select, input:not([type=checkbox], [type=radio])')) {
    if (event.key === 'Escape') event.target.blur()
    return
  }
  const { key } = event
  if (key === 'j') move(1)
  else if (key === 'k') move(-1)
  else if (key === 'x') document.activeElement.closest('[data-row]')?.querySelector('input[type=checkbox]')?.click()
  else if (key === '?') document.querySelector('#keys')?.showModal()
  else if (/^[1-9]$/.test(key)) lift(Number(key))
  else if (!/^[a-z]$/.test(key) || !press(key)) return
  event.preventDefault()
})
document.documentElement.classList.add('has-script')
// A second link that is opened in the same tab changes the fragment only.
addEventListener('hashchange', () => {
  if (location.hash.includes('token=')) location.reload()
})
