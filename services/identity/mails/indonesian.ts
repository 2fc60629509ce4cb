import { renderMail } from '@tandem/mail-kit'
import type { MailTemplates } from './english.ts'

const locale = 'id'
const ignore = 'Jika bukan Anda yang meminta email ini, abaikan saja.'

export const indonesian: MailTemplates = {
  verification: (code) =>
    renderMail({
      locale,
      subject: `${code} adalah kode Tandem Anda`,
      title: 'Selamat datang di Tandem',
      paragraphs: [
        'Masukkan kode ini di aplikasi untuk mengonfirmasi alamat email Anda:',
        'Kode berlaku selama 24 jam. Tim Tandem tidak akan pernah memintanya.'
      ],
      code,
      footer: `Seseorang mendaftar di Tandem dengan alamat ini. ${ignore}`
    }),
  signIn: (code) =>
    renderMail({
      locale,
      subject: `${code} adalah kode masuk Tandem Anda`,
      title: 'Halo',
      paragraphs: [
        'Masukkan kode ini di aplikasi untuk masuk:',
        'Kode berlaku selama 10 menit. Tim Tandem tidak akan pernah memintanya.'
      ],
      code,
      footer: `Seseorang ingin masuk ke Tandem dengan alamat ini. ${ignore}`
    }),
  erased: () =>
    renderMail({
      locale,
      subject: 'Akun Tandem Anda telah dihapus',
      title: 'Sampai jumpa',
      paragraphs: [
        'Akun Anda beserta seluruh isinya telah dihapus sesuai permintaan.',
        'Ini email terakhir dari kami. Jika ingin kembali, Anda dapat mendaftar lagi dengan alamat ini.'
      ],
      footer: 'Tandem tidak menyimpan alamat Anda.'
    }),
  reset: (url) =>
    renderMail({
      locale,
      subject: 'Buat kata sandi baru untuk Tandem',
      title: 'Halo',
      paragraphs: [
        'Gunakan tautan ini untuk membuat kata sandi baru. Tautan ini berlaku selama satu jam dan hanya ' +
        'dapat digunakan sekali.',
        'Setelah kata sandi diubah, semua perangkat Anda akan keluar dari akun.'
      ],
      button: { label: 'Buat kata sandi baru', url },
      footer: `Seseorang meminta kata sandi baru untuk alamat ini. ${ignore} Kata sandi Anda tidak berubah.`
    })
}
