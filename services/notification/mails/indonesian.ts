import { renderMail } from '@tandem/mail-kit'
import type { MailTemplates } from './english.ts'

const locale = 'id'
const footer = 'Anda menerima email ini karena ada perubahan pada akun Tandem Anda.'
const dateFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'Asia/Jakarta' })

export const indonesian: MailTemplates = {
  passwordChanged: (how) =>
    renderMail({
      locale,
      footer,
      title: 'Halo',
      ...(how === 'CLEARED'
        ? {
          subject: 'Kata sandi akun Tandem Anda dihapus',
          paragraphs: [
            'Anda baru saja mengonfirmasi alamat email ini dari tempat yang berbeda dengan tempat akun dibuat.',
            'Demi keamanan, kata sandi yang dibuat di sana kami hapus dan perangkatnya kami keluarkan. ' +
            'Anda dapat membuat yang baru di aplikasi.'
          ]
        }
        : {
          subject: how === 'INITIAL'
            ? 'Akun Tandem Anda kini memiliki kata sandi'
            : 'Kata sandi akun Tandem Anda diubah',
          paragraphs: [
            how === 'INITIAL'
              ? 'Kata sandi pertama telah dibuat untuk akun Anda.'
              : 'Kata sandi akun Anda diubah, dan perangkat lain telah keluar.',
            'Jika itu bukan Anda, segera pilih “Lupa kata sandi” di aplikasi.'
          ]
        })
    }),
  newSignIn: (device, at) =>
    renderMail({
      locale,
      footer,
      subject: 'Ada yang baru masuk ke akun Tandem Anda',
      title: 'Halo',
      paragraphs: [
        `Akun Anda dibuka di ${device ?? 'sebuah perangkat'} yang belum kami kenal, ` +
        `pada ${dateFormat.format(at)} (WIB).`,
        'Jika itu bukan Anda, keluarkan perangkat itu di aplikasi dan ubah kata sandi Anda.'
      ]
    })
}
