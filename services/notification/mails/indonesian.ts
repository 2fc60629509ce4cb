import { plainText, renderMail } from '@tandem/mail-kit'
import type { MailTemplates } from './english.ts'
import { formatMeetingTime } from './meeting-time.ts'

const locale = 'id'
const footer = 'Anda menerima email ini karena ada perubahan pada akun Tandem Anda.'
const dateFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'Asia/Jakarta' })

const noEmergencyService = 'Tandem bukan layanan darurat. Tidak ada orang di Tandem yang memantau pertemuan atau ' +
  'memanggil bantuan. Dalam keadaan darurat, hubungi nomor darurat di negara Anda.'
const contactFooter = (name: string) =>
  `Anda menerima email ini karena ${name} memilih Anda sebagai kontak tepercaya di Tandem, aplikasi untuk ` +
  'berolahraga bersama.'

function describe (details: Parameters<MailTemplates['meetingShared']>[0]['details']) {
  if (!details) return ['Email pertama memuat tempat dan waktunya.']
  const { place, companions, startsAt, endsAt, timezone } = details
  return [
    `Di mana: ${place || 'tidak disebutkan'}`,
    `Kapan: ${formatMeetingTime(locale, { startsAt, endsAt, timezone })}`,
    `Bersama: ${companions.join(', ') || 'belum ada yang setuju'}`
  ]
}

export const indonesian: MailTemplates = {
  contactRequest: ({ name, url }) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} Jika Anda tidak mengenalnya, tolak atau abaikan email ini.`,
      subject: 'Bersediakah Anda menjadi kontak tepercaya di Tandem?',
      title: 'Halo',
      paragraphs: [
        `${name} memakai Tandem untuk mencari teman berolahraga, dan ingin menjadikan Anda kontak tepercaya.`,
        `Jika Anda setuju, ${name} dapat memberi tahu Anda sebelum bertemu orang baru: siapa, di mana, dan kapan. ` +
        'Jika ia tidak memberi kabar setelah pertemuan itu, Anda menerima email lagi.',
        noEmergencyService,
        `Anda tidak memerlukan akun. Jika Anda menolak, ${name} tidak dapat bertanya lagi ke alamat ini.`
      ],
      button: { label: 'Jawab', url }
    }),
  meetingShared: ({ name, url, details }) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} Tautan ini mengakhiri email tersebut.`,
      subject: `${name} akan berolahraga bersama orang lain`,
      title: 'Halo',
      paragraphs: [
        `${name} ingin Anda mengetahui sebuah kegiatan di Tandem.`,
        ...describe(details),
        `Anda menerima email lagi hanya jika ${name} tidak memberi kabar setelahnya.`,
        noEmergencyService
      ],
      button: { label: 'Akhiri email ini', url }
    }),
  meetingOverdue: ({ name, url, details }) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} Tautan ini mengakhiri email tersebut.`,
      subject: `${name} belum memberi kabar`,
      title: 'Mohon pastikan keadaannya',
      paragraphs: [
        `${name} belum memberi tahu Tandem bahwa ia baik-baik saja setelah kegiatan ini. Mungkin ia lupa. ` +
        'Silakan coba menghubunginya.',
        ...describe(details),
        noEmergencyService
      ],
      button: { label: 'Akhiri email ini', url }
    }),
  meetingCleared: ({ name, url }) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} Tautan ini mengakhiri email tersebut.`,
      subject: `${name} sudah memberi kabar`,
      title: 'Semua baik-baik saja',
      paragraphs: [`${name} sudah memberi tahu Tandem bahwa ia baik-baik saja.`, noEmergencyService],
      button: { label: 'Akhiri email ini', url }
    }),
  meetingEnded: ({ name, url }) =>
    renderMail({
      locale,
      footer: `${contactFooter(name)} Tautan ini mengakhiri email tersebut.`,
      subject: `Pemeriksaan keamanan ${name} berakhir`,
      title: 'Halo',
      paragraphs: [
        `${name} tidak dapat lagi memberi kabar setelah kegiatan yang ia beritahukan kepada Anda, karena akunnya ditutup ` +
        'atau dijeda. Anda tidak menerima email lagi tentang kegiatan itu.',
        'Ini tidak mengatakan apa pun tentang keadaannya. Jika Anda ingin tahu, tanyakan langsung kepadanya.',
        noEmergencyService
      ],
      button: { label: 'Akhiri email ini', url }
    }),
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
  providerLinked: (provider, at) =>
    renderMail({
      locale,
      footer,
      subject: 'Sebuah penyedia ditautkan ke akun Tandem Anda',
      title: 'Halo',
      paragraphs: [
        `Akun Anda dibuka dengan penyedia ${provider === 'PROVIDER_A' ? 'A' : 'B'}, ` +
        `pada ${dateFormat.format(at)} (WIB). Mulai sekarang, ini salah satu cara untuk masuk.`,
        'Jika itu bukan Anda, hapus penyedia itu di aplikasi, lalu ubah kata sandi akun Tandem dan email Anda: akun ' +
        'di penyedia itu memakai alamat Anda.'
      ]
    }),
  newSignIn: (device, at) =>
    renderMail({
      locale,
      footer,
      subject: 'Ada yang baru masuk ke akun Tandem Anda',
      title: 'Halo',
      paragraphs: [
        `Akun Anda dibuka di ${device === null ? 'sebuah perangkat' : plainText(device)} yang belum kami kenal, ` +
        `pada ${dateFormat.format(at)} (WIB).`,
        'Jika itu bukan Anda, keluarkan perangkat itu di aplikasi dan ubah kata sandi Anda.'
      ]
    })
}
