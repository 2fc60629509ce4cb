import { createHash } from 'node:crypto'
import { languageOfRequest } from '@tandem/http-kit'
import type { Language } from '@tandem/http-kit'
import type { FastifyInstance } from 'fastify'
import { BASE_PATH } from '../routes.ts'

const texts: Record<Language,
  Record<'title' | 'password' | 'save' | 'done' | 'expired' | 'missing' | 'failed', string>> = {
    en: {
      title: 'Choose a new password',
      password: 'New password: 8 characters or more, with a lowercase letter, an uppercase letter and a digit',
      save: 'Save',
      done: 'Your password is changed. Please sign in to the app with it.',
      expired: 'This link has expired or was already used. Please request a new one in the app.',
      missing: 'Please open the link in the email again.',
      failed: 'Something went wrong. Please try again in a moment.'
    },
    id: {
      title: 'Pilih kata sandi baru',
      password: 'Kata sandi baru: minimal 8 karakter, dengan huruf kecil, huruf besar, dan angka',
      save: 'Simpan',
      done: 'Kata sandi Anda sudah diganti. Silakan masuk dengannya di aplikasi.',
      expired: 'Tautan ini sudah tidak berlaku. Silakan minta yang baru di aplikasi.',
      missing: 'Silakan buka lagi tautan dari email.',
      failed: 'Belum berhasil. Silakan coba lagi sebentar lagi.'
    }
  }

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
input, button { display: block; box-sizing: border-box; width: 100%; margin: .5rem 0 1rem; padding: .6rem }
input, button { font: inherit }
`

// Relative, in case the gateway is not at the root of its origin.
const route = `${BASE_PATH}/auth/reset-password`.slice(1)

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

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const policy = [
  "default-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
  `script-src ${digest(script)}`,
  `style-src ${digest(style)}`,
  "connect-src 'self'"
].join('; ')

function pageIn (language: Language) {
  const { title, password, save, ...messages } = texts[language]
  const attributes = Object.entries(messages).map(([name, text]) => `data-${name}="${text}"`).join(' ')
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
<body ${attributes}>
<h1>${title}</h1>
<form>
<input type="email" name="email" autocomplete="username" hidden>
<label>${password}<input type="password" name="password" autocomplete="new-password" required autofocus
  minlength="8" maxlength="128" pattern="(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9]).*"></label>
<button>${save}</button>
</form>
<p role="status"></p>
<script>${script}</script>
</body>
</html>
`
}

const pages = { en: pageIn('en'), id: pageIn('id') }

/** GET /reset-password: the target of the link in identity's email on devices where the app does not open it. */
export async function serveResetPage (app: FastifyInstance) {
  app.get('/reset-password', { config: { public: true } }, async (request, reply) =>
    reply
      .headers({ 'content-security-policy': policy, vary: 'Accept-Language' })
      .type('text/html; charset=utf-8')
      .send(pages[languageOfRequest(request)]))
}
