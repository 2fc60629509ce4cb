import { createHash } from 'node:crypto'
import { languageOfRequest } from '@tandem/service-kit'
import type { Language } from '@tandem/service-kit'
import type { FastifyInstance } from 'fastify'
import { base } from '../routes.ts'

const texts: Record<Language, Record<'title' | 'password' | 'save' | 'done' | 'over' | 'missing' | 'failed', string>> = {
  en: {
    title: 'Choose a new password',
    password: 'New password: 8 characters or more, with a lowercase letter, an uppercase letter and a digit',
    save: 'Save',
    done: 'Your password is changed. Please sign in with it in the app.',
    over: 'This link is no longer good. Please ask for another in the app.',
    missing: 'Please open the link from the mail again.',
    failed: 'That did not work. Please try again in a moment.'
  },
  id: {
    title: 'Pilih kata sandi baru',
    password: 'Kata sandi baru: minimal 8 karakter, dengan huruf kecil, huruf besar, dan angka',
    save: 'Simpan',
    done: 'Kata sandi Anda sudah diganti. Silakan masuk dengannya di aplikasi.',
    over: 'Tautan ini sudah tidak berlaku. Silakan minta yang baru di aplikasi.',
    missing: 'Silakan buka lagi tautan dari email.',
    failed: 'Belum berhasil. Silakan coba lagi sebentar lagi.'
  }
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
input, button { display: block; box-sizing: border-box; width: 100%; margin: .5rem 0 1rem; padding: .6rem; font: inherit }
`

// Beside the page, in case that is not at the top of its origin.
const route = `${base}/auth/reset-password`.slice(1)

// The link has its token in the fragment, which no browser sends to a server; links of older mails have it in the query. Either is taken
// out of the address, and so out of the history, and the token then leaves the page only in a body.
const script = `
const form = document.querySelector('form')
const tell = (text) => { document.querySelector('[role=status]').textContent = text }
const end = (what) => { form.hidden = true; tell(document.body.dataset[what]) }
let token, email
function readLink () {
  const link = new URLSearchParams(location.hash.slice(1) || location.search)
  token = link.get('token')
  // Some programs that read mails decode the plus of an address, which then stands for a space.
  email = (link.get('email') ?? '').replaceAll(' ', '+')
  history.replaceState(null, '', location.pathname)
  form.elements.email.value = email
  form.hidden = false
  tell('')
  if (!token || !email) end('missing')
}
readLink()
// A second link that is opened in the same tab differs in its fragment alone, and loads nothing.
addEventListener('hashchange', readLink)
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const body = JSON.stringify({ token, email, password: form.elements.password.value })
  try {
    const answer = await fetch('${route}', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { success, code, error } = await answer.json()
    if (success) end('done')
    else if (code === 'INVALID_TOKEN') end('over')
    else tell(answer.status === 400 ? error : document.body.dataset.failed)
  } catch {
    tell(document.body.dataset.failed)
  }
})
`

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const policy = [
  "default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'",
  `script-src ${digest(script)}`, `style-src ${digest(style)}`, "connect-src 'self'"
].join('; ')

function pageIn (language: Language) {
  const { title, password, save, ...said } = texts[language]
  const attributes = Object.entries(said).map(([name, text]) => `data-${name}="${text}"`).join(' ')
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
<label>${password}<input type="password" name="password" autocomplete="new-password" minlength="8" maxlength="128" pattern="(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9]).*" required autofocus></label>
<button>${save}</button>
</form>
<p role="status"></p>
<script>${script}</script>
</body>
</html>
`
}

const pages = { en: pageIn('en'), id: pageIn('id') }

/** GET /reset-password: where the link in the mail leads whoever has no app that opens it. */
export async function serveResetPage (app: FastifyInstance) {
  app.get('/reset-password', { config: { public: true } }, async (request, reply) => reply
    .headers({ 'content-security-policy': policy, vary: 'Accept-Language' })
    .type('text/html; charset=utf-8')
    .send(pages[languageOfRequest(request)]))
}
