import type { FastifyInstance } from 'fastify'
import { serveButtonPage } from './button-page.ts'

const texts = {
  en: {
    title: 'Restore your address',
    question: 'Did somebody else change the address of your Tandem account? You can take that back.',
    warning:
      'Your password is removed, everybody is signed out, and what was requested since is canceled. Then sign in ' +
      'with a code that we mail to you.',
    button: 'Restore my address',
    done: 'Your address is restored. Sign in to the app with a code from your mailbox, then set a new password.',
    expired: 'This link has expired or was already used.',
    missing: 'Please open the link in the email again.',
    failed: 'Something went wrong. Please try again in a moment.'
  },
  id: {
    title: 'Pulihkan alamat Anda',
    question: 'Apakah orang lain mengganti alamat akun Tandem Anda? Anda dapat membatalkannya.',
    warning:
      'Kata sandi Anda dihapus, semua perangkat keluar dari akun, dan yang diminta sejak itu dibatalkan. Setelah itu ' +
      'masuklah dengan kode dari email.',
    button: 'Pulihkan alamat saya',
    done: 'Alamat Anda sudah dipulihkan. Masuklah di aplikasi dengan kode dari email, lalu buat kata sandi baru.',
    expired: 'Tautan ini sudah tidak berlaku atau sudah dipakai.',
    missing: 'Silakan buka lagi tautan dari email.',
    failed: 'Belum berhasil. Silakan coba lagi sebentar lagi.'
  }
}

/** GET /restore-address: the target of the link that takes a change of address back. */
export async function serveRestoreAddressPage (app: FastifyInstance) {
  serveButtonPage(app, { path: '/restore-address', route: '/account/email/revert', texts })
}
