import type { FastifyInstance } from 'fastify'
import { serveButtonPage } from './button-page.ts'

const signInTexts = {
  en: {
    title: 'Sign in to Tandem',
    question: 'Did the app not accept the code from your email? Somebody else may have tried too many codes.',
    warning:
      'Connect this device to the same network as the app, and press the button. The app then accepts the code, or a ' +
      'new one. If you did not ask for a code, close this page.',
    button: 'Accept codes from this network',
    done: 'Enter the code from your newest email in the app now. If it has expired, request a new one there.',
    expired: 'This link has expired or was already used. Please request a new code in the app.',
    missing: 'Please open the link in the email again.',
    failed: 'Something went wrong. Please try again in a moment.'
  },
  id: {
    title: 'Masuk ke Tandem',
    question: 'Aplikasi tidak menerima kode dari email? Mungkin orang lain mencoba terlalu banyak kode.',
    warning:
      'Hubungkan perangkat ini ke jaringan yang sama dengan aplikasi, lalu tekan tombolnya. Setelah itu aplikasi ' +
      'menerima kode tersebut, atau kode baru. Jika Anda tidak meminta kode, tutup halaman ini.',
    button: 'Terima kode dari jaringan ini',
    done: 'Masukkan kode dari email terbaru di aplikasi. Jika sudah tidak berlaku, minta yang baru di sana.',
    expired: 'Tautan ini sudah tidak berlaku atau sudah dipakai. Silakan minta kode baru di aplikasi.',
    missing: 'Silakan buka lagi tautan dari email.',
    failed: 'Belum berhasil. Silakan coba lagi sebentar lagi.'
  }
}

const verificationTexts = {
  en: {
    title: 'Confirm your email address',
    question: 'Did you sign up for Tandem with this email address?',
    warning:
      'If you signed up on another network than this one, your password is removed and the app signs you out. Sign in ' +
      'with a code from your email then. If you did not sign up, close this page.',
    button: 'Confirm my address',
    done: 'Your address is confirmed. You can go back to the app.',
    expired: 'This link has expired or was already used. Please request a new code in the app.',
    missing: 'Please open the link in the email again.',
    failed: 'Something went wrong. Please try again in a moment.'
  },
  id: {
    title: 'Konfirmasi alamat email',
    question: 'Apakah Anda mendaftar di Tandem dengan alamat email ini?',
    warning:
      'Jika Anda mendaftar dari jaringan lain, kata sandi Anda dihapus dan Anda keluar dari aplikasi. Setelah itu ' +
      'masuklah dengan kode dari email. Jika Anda tidak mendaftar, tutup halaman ini.',
    button: 'Konfirmasi alamat saya',
    done: 'Alamat Anda sudah dikonfirmasi. Anda dapat kembali ke aplikasi.',
    expired: 'Tautan ini sudah tidak berlaku atau sudah dipakai. Silakan minta kode baru di aplikasi.',
    missing: 'Silakan buka lagi tautan dari email.',
    failed: 'Belum berhasil. Silakan coba lagi sebentar lagi.'
  }
}

/** GET /sign-in and /verify-email: the targets of the links in mails with a code, where the app does not open them. */
export async function serveCodeLinkPages (app: FastifyInstance) {
  serveButtonPage(app, { path: '/sign-in', route: '/auth/login-link/network', texts: signInTexts })
  serveButtonPage(app, { path: '/verify-email', route: '/auth/verify-link', texts: verificationTexts })
}
