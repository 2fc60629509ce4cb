import type { Language } from '@tandem/http-kit'
import type { FastifyInstance } from 'fastify'
import { BASE_PATH } from '../routes.ts'
import { LINK_SCRIPT, serveHtmlPage } from './html-page.ts'

const texts: Record<Language,
  Record<'title' | 'text' | 'send' | 'done' | 'exists' | 'closed' | 'missing' | 'failed', string>> = {
    en: {
      title: 'Appeal a decision',
      text: 'Why is the decision wrong? Somebody else reads this, if possible.',
      send: 'Send',
      done: 'We received your appeal. You get an email with the answer.',
      exists: 'You have already appealed this decision.',
      closed: 'The time to appeal this decision is over.',
      missing: 'Please open the link in the email again.',
      failed: 'Something went wrong. Please try again in a moment.'
    },
    id: {
      title: 'Ajukan banding',
      text: 'Mengapa keputusan itu keliru? Sebisa mungkin orang lain yang membacanya.',
      send: 'Kirim',
      done: 'Banding Anda kami terima. Jawabannya akan dikirim lewat email.',
      exists: 'Anda sudah mengajukan banding atas keputusan ini.',
      closed: 'Waktu untuk mengajukan banding sudah habis.',
      missing: 'Silakan buka lagi tautan dari email.',
      failed: 'Belum berhasil. Silakan coba lagi sebentar lagi.'
    }
  }

// Relative, in case the gateway is not at the root of its origin.
const route = `${BASE_PATH}/account/appeals`.slice(1)

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

type Texts = typeof texts['en']

const form = ({ text, send }: Texts) =>
  `<form>
<label>${text}<textarea name="text" rows="8" maxlength="5000" required autofocus></textarea></label>
<button>${send}</button>
</form>`

/** GET /appeal: the target of the link in identity's email about a decision. */
export async function serveAppealPage (app: FastifyInstance) {
  serveHtmlPage(app, { path: '/appeal', texts, content: form, script })
}
