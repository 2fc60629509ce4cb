import type { FastifyInstance } from 'fastify'
import { BASE_PATH } from '../routes.ts'
import { LINK_SCRIPT, serveHtmlPage } from './html-page.ts'

const texts = {
  en: {
    title: 'Trusted contact',
    question: 'Somebody asks you by email to be their trusted contact on Tandem. ' +
      'If you agree, they can let you know before they meet somebody new.',
    warning: 'Tandem is no emergency service. Nobody at Tandem watches meetings or calls for help.',
    agree: 'I agree',
    decline: 'I do not want these emails',
    agreed: 'Thank you. The link in each email lets you end this at any time.',
    declined: 'You get no more of these emails. This person cannot ask you again.',
    refused: 'You have declined before. Nothing has changed.',
    expired: 'This link is no longer valid. You get no more of these emails.',
    missing: 'Please open the link in the email again.',
    failed: 'Something went wrong. Please try again in a moment.'
  },
  id: {
    title: 'Kontak tepercaya',
    question: 'Seseorang meminta Anda lewat email untuk menjadi kontak tepercayanya di Tandem. ' +
      'Jika Anda setuju, ia dapat memberi tahu Anda sebelum bertemu orang baru.',
    warning: 'Tandem bukan layanan darurat. Tidak ada orang di Tandem yang memantau pertemuan atau memanggil bantuan.',
    agree: 'Saya setuju',
    decline: 'Saya tidak ingin menerima email ini',
    agreed: 'Terima kasih. Anda dapat mengakhirinya kapan saja lewat tautan di setiap email.',
    declined: 'Anda tidak akan menerima email ini lagi. Orang ini tidak dapat bertanya lagi.',
    refused: 'Anda sudah menolak sebelumnya. Tidak ada yang berubah.',
    expired: 'Tautan ini sudah tidak berlaku. Anda tidak akan menerima email ini lagi.',
    missing: 'Silakan buka lagi tautan dari email.',
    failed: 'Belum berhasil. Silakan coba lagi sebentar lagi.'
  }
}

// Relative, in case the gateway is not at the root of its origin.
const route = `${BASE_PATH}/notifications/trusted-contact/answer`.slice(1)

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

const content = ({ question, warning, agree, decline }: typeof texts['en']) =>
  `<form>
<p>${question}</p>
<p>${warning}</p>
<button value="agree">${agree}</button>
<button value="decline">${decline}</button>
</form>`

/** GET /trusted-contact: the target of the links in the emails to a trusted contact. */
export async function serveContactPage (app: FastifyInstance) {
  serveHtmlPage(app, { path: '/trusted-contact', texts, content, script })
}
