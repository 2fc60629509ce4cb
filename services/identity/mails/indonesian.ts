import { plainQuote, renderMail } from '@tandem/mail-kit'
import type { StaffRole } from '@tandem/operator-kit'
import type { DecidedAction, DecisionReason, ProofPurpose, RestrictionScope } from '../tables.ts'
import type { MailTemplates } from './english.ts'

const locale = 'id'
const ignore = 'Jika bukan Anda yang meminta email ini, abaikan saja.'

const proofPurposes: Record<ProofPurpose, string> = {
  DELETE: 'untuk menghapus akun Anda',
  EXPORT: 'untuk mendapatkan salinan data Anda',
  CHANGE_EMAIL: 'untuk mengganti alamat email akun Anda',
  REMOVE_PROVIDER: 'untuk menghapus penyedia dari cara masuk Anda'
}

const subscriptionTexts: Record<Parameters<MailTemplates['subscription']>[0]['kind'],
  { subject: string, text: string }> = {
    BEGUN: {
      subject: 'Langganan Anda sudah dimulai',
      text:
        'Terima kasih! Semua yang dibuka oleh langganan Anda siap di aplikasi. Toko menagihnya sampai Anda membatalkan.'
    },
    PAYMENT_FAILED: {
      subject: 'Pembayaran Anda tidak berhasil',
      text: 'Toko tidak dapat menagih langganan Anda. Periksa cara bayar Anda di sana agar langganan tetap berjalan.'
    },
    ENDED: {
      subject: 'Langganan Anda telah berakhir',
      text: 'Akun, data, dan obrolan Anda tetap ada. Anda dapat berlangganan lagi di aplikasi kapan saja.'
    },
    REFUNDED: {
      subject: 'Uang langganan Anda dikembalikan',
      text: 'Toko mengembalikan uang Anda atau menarik pembelian itu, jadi langganannya berakhir.'
    },
    MOVED: {
      subject: 'Langganan Anda dipindahkan ke akun lain',
      text: 'Seseorang yang memakai akun toko Anda memindahkannya. Jika bukan Anda, pulihkan langganan di aplikasi.'
    },
    RECEIVED: {
      subject: 'Sebuah langganan dipindahkan ke akun Anda',
      text: 'Mulai sekarang langganan itu berlaku untuk akun ini, dan tidak lagi untuk akun yang lain.'
    },
    BILLED_TWICE: {
      subject: 'Anda membayar dua langganan',
      text: 'Dua langganan ditagih untuk akun Anda, padahal satu sudah cukup. Batalkan salah satunya di tokonya.'
    }
  }
const scopes: Record<RestrictionScope, string> = {
  POSTING: 'Anda tidak dapat memposting, berkomentar, atau bereaksi',
  FITMATCH: 'Profil FitMatch Anda disembunyikan',
  ALL: 'Akun Anda dibatasi, dan tidak terlihat oleh orang lain'
}
const rules: Record<DecisionReason, string> = {
  SPAM: 'tanpa spam',
  HARASSMENT: 'tanpa pelecehan',
  HATE: 'tanpa kebencian',
  SEXUAL: 'tanpa konten seksual',
  VIOLENCE: 'tanpa kekerasan',
  SELF_HARM: 'tidak mendorong orang menyakiti diri sendiri',
  CHILD_SAFETY: 'keselamatan anak',
  IMPERSONATION: 'tidak menyamar sebagai orang lain',
  ILLEGAL: 'tidak melanggar hukum',
  UNDERAGE: 'usia minimum',
  REPORTS: 'profil yang dilaporkan beberapa orang disembunyikan sampai ada yang memeriksanya',
  OTHER: 'aturan komunitas'
}

function describeAction ({ type, scope, until }: DecidedAction) {
  const end = until ? ` sampai ${until.slice(0, 16).replace('T', ' ')} UTC` : ' sampai kami memeriksanya lagi'
  switch (type) {
    case 'HIDE_CONTENT':
      return 'Sekarang hanya Anda yang dapat melihatnya.'
    case 'RESTORE_CONTENT':
      return 'Orang yang sebelumnya dapat melihatnya kini dapat melihatnya lagi.'
    case 'REMOVE_PHOTO':
      return 'Kami menghapus sebuah foto dari profil FitMatch Anda.'
    case 'WARN':
      return 'Ini adalah peringatan.'
    case 'RESTRICT':
      return `${scopes[scope ?? 'ALL']}${end}.`
    case 'BAN':
      return 'Akun Anda diblokir.'
    case 'LIFT':
      return 'Pembatasan akun Anda telah berakhir.'
    case 'DISMISS':
      return 'Kami tidak menemukan pelanggaran.'
  }
}

const roles: Record<StaffRole, string> = { SUPPORT: 'bantuan', MODERATOR: 'moderator', ADMIN: 'administrator' }
const footer = 'Anda menerima email ini karena Anda memakai konsol.'

export const indonesian: MailTemplates = {
  verification: (code, url) =>
    renderMail({
      locale,
      subject: `${code} adalah kode Tandem Anda`,
      title: 'Selamat datang di Tandem',
      paragraphs: [
        'Masukkan kode ini di aplikasi untuk mengonfirmasi alamat email Anda:',
        'Kode dan tautan berlaku selama 24 jam. Tim Tandem tidak akan pernah memintanya.'
      ],
      code,
      button: { label: 'Konfirmasi tanpa kode', url },
      footer: `Seseorang mendaftar di Tandem dengan alamat ini. ${ignore}`
    }),
  signIn: (code, url) =>
    renderMail({
      locale,
      subject: `${code} adalah kode masuk Tandem Anda`,
      title: 'Halo',
      paragraphs: [
        'Masukkan kode ini di aplikasi untuk masuk:',
        'Kode dan tautan berlaku selama 10 menit. Tim Tandem tidak akan pernah memintanya.'
      ],
      code,
      button: { label: 'Kode tidak diterima?', url },
      footer: `Seseorang ingin masuk ke Tandem dengan alamat ini. ${ignore}`
    }),
  proof: (purpose, code) =>
    renderMail({
      locale,
      subject: `${code} adalah kode Tandem Anda`,
      title: 'Apakah ini Anda?',
      paragraphs: [
        `Masukkan kode ini di aplikasi ${proofPurposes[purpose]}:`,
        'Kode berlaku selama 10 menit. Tim Tandem tidak akan pernah memintanya.'
      ],
      code,
      footer: 'Kode ini diminta oleh seseorang yang masuk ke akun Anda. Jika itu bukan Anda, jangan masukkan kode ' +
        'ini di mana pun, dan ganti kata sandi Anda.'
    }),
  deletionLink: (url) =>
    renderMail({
      locale,
      subject: 'Hapus akun Tandem Anda',
      title: 'Ingin berhenti?',
      paragraphs: [
        'Gunakan tautan ini untuk melihat apa saja yang dihapus, lalu menghapus akun Anda. Tautan berlaku selama satu ' +
        'jam dan hanya dapat digunakan sekali. Tidak ada yang dihapus sebelum Anda mengonfirmasinya di sana.'
      ],
      button: { label: 'Hapus akun saya', url },
      footer: `Seseorang meminta penghapusan akun dengan alamat ini. ${ignore} Tidak ada yang berubah.`
    }),
  deletion: ({ kind, date, url, hasSubscription, manageUrl, providers }) =>
    renderMail({
      locale,
      subject: kind === 'SCHEDULED' ? 'Akun Tandem Anda akan dihapus' : 'Pengingat: akun Anda akan dihapus',
      title: 'Akun Anda akan dihapus',
      paragraphs: [
        `Akun Anda akan dihapus pada ${date}. Orang lain sudah tidak dapat melihat Anda, dan semua perangkat sudah ` +
        'keluar dari akun. Anda masih dapat membatalkannya, dan melihat apa saja yang dihapus:',
        ...(hasSubscription
          ? [
            `Anda memiliki langganan. Toko aplikasi tetap menagihnya sampai Anda membatalkannya di sana${
              manageUrl ? `: ${manageUrl}` : '.'
            }`
          ]
          : []),
        ...(providers.length > 0
          ? ['Anda masuk dengan akun dari perusahaan lain. Putuskan sambungan Tandem di pengaturan akun tersebut.']
          : [])
      ],
      button: { label: 'Lihat atau batalkan penghapusan', url },
      footer: 'Jika bukan Anda yang memintanya, batalkan lewat tautan tersebut dan ganti kata sandi Anda.'
    }),
  decision: ({ actions, reason, statement, excerpt, isAutomated, url }) =>
    renderMail({
      locale,
      subject: 'Keputusan tentang akun Tandem Anda',
      title: 'Kami telah mengambil keputusan',
      paragraphs: [
        actions.map(describeAction).join(' '),
        ...(excerpt ? [`Keputusan ini mengenai: “${plainQuote(excerpt)}”`] : []),
        `Aturannya: ${rules[reason]}.`,
        isAutomated
          ? 'Keputusan ini dibuat secara otomatis karena laporan. Seseorang akan memeriksanya.'
          : 'Keputusan ini dibuat oleh seseorang.',
        ...(statement ? [statement] : []),
        'Jika menurut Anda ini keliru, Anda dapat mengajukan banding satu kali dalam 180 hari. Sebisa mungkin orang lain ' +
        'yang membacanya.'
      ],
      button: { label: 'Ajukan banding', url },
      footer: 'Anda juga dapat melihatnya di aplikasi, pada status akun Anda.'
    }),
  appealAnswered: ({ isReversed, answer }) =>
    renderMail({
      locale,
      subject: 'Jawaban atas banding Anda',
      title: isReversed ? 'Anda benar' : 'Keputusan tetap berlaku',
      paragraphs: [
        isReversed
          ? 'Kami memeriksanya kembali dan mengambil keputusan yang berbeda.'
          : 'Kami memeriksanya kembali dan menilai keputusan itu sudah tepat.',
        answer
      ],
      footer: 'Setiap banding dijawab satu kali.'
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
  subscription: ({ kind, manageUrl }) =>
    renderMail({
      locale,
      subject: subscriptionTexts[kind].subject,
      title: subscriptionTexts[kind].subject,
      paragraphs: [subscriptionTexts[kind].text],
      ...(manageUrl && { button: { label: 'Buka toko aplikasi', url: manageUrl } }),
      footer: 'Anda menerima email ini karena toko aplikasi menjual langganan untuk akun Tandem Anda.'
    }),
  newEmail: (code) =>
    renderMail({
      locale,
      subject: `${code} adalah kode Tandem Anda`,
      title: 'Alamat baru',
      paragraphs: [
        'Masukkan kode ini di aplikasi untuk memakai alamat ini di akun Anda:',
        'Kode berlaku selama 10 menit. Tim Tandem tidak akan pernah memintanya.'
      ],
      code,
      footer: `Seseorang ingin memakai alamat email ini untuk akun Tandem-nya. ${ignore}`
    }),
  emailChanged: (url) =>
    renderMail({
      locale,
      subject: 'Alamat akun Tandem Anda telah diganti',
      title: 'Apakah ini Anda?',
      paragraphs: [
        'Akun Anda kini memakai alamat email lain. Jika Anda yang menggantinya, tidak ada yang perlu dilakukan.',
        'Jika bukan, batalkan lewat tautan ini dalam 7 hari: kata sandi Anda dan penyedia yang ditautkan sejak itu ' +
        'dihapus, penghapusan akun dibatalkan, dan semua perangkat keluar dari akun. Setelah itu masuklah dengan kode ' +
        'yang kami kirim ke alamat ini.'
      ],
      button: { label: 'Batalkan perubahan', url },
      footer: 'Anda menerima email ini karena alamat ini dulu dipakai oleh sebuah akun Tandem.'
    }),
  exportRequested: () =>
    renderMail({
      locale,
      subject: 'Salinan data Tandem Anda diminta',
      title: 'Data Anda',
      paragraphs: [
        'Kami sedang menyiapkan salinan seluruh isi akun Anda. Tautannya akan kami kirim setelah siap.',
        'Jika bukan Anda yang memintanya, segera ganti kata sandi: dengan begitu tidak ada yang menerima salinan itu.'
      ],
      footer: 'Anda menerima email ini karena pemilik akun ini meminta salinan datanya.'
    }),
  exportReady: (url) =>
    renderMail({
      locale,
      subject: 'Data Tandem Anda sudah siap',
      title: 'Data Anda',
      paragraphs: [
        'Salinan data Anda sudah siap. Tautan berlaku selama 7 hari bagi siapa pun yang memilikinya: jangan dibagikan.',
        'Tautan berakhir jika Anda mengganti kata sandi atau alamat email.'
      ],
      button: { label: 'Ambil data Anda', url },
      footer: 'Anda menerima email ini karena pemilik akun ini meminta salinan datanya.'
    }),
  exportFailed: () =>
    renderMail({
      locale,
      subject: 'Salinan data Tandem Anda gagal dibuat',
      title: 'Data Anda',
      paragraphs: [
        'Kami sudah mencoba selama satu hari, tetapi salinan data Anda tidak dapat diselesaikan. Kami mohon maaf.',
        'Anda dapat memintanya lagi di aplikasi sekarang.'
      ],
      footer: 'Anda menerima email ini karena pemilik akun ini meminta salinan datanya.'
    }),
  operatorInvitation: (url) =>
    renderMail({
      locale,
      subject: 'Undangan Anda ke konsol Tandem',
      title: 'Selamat datang',
      paragraphs: [
        'Anda diundang ke konsol bagi orang-orang yang mengelola komunitas. Gunakan tautan ini untuk membuat kunci ' +
        'sandi, yang Anda pakai untuk masuk. Tautan berlaku selama 24 jam dan hanya dapat digunakan sekali.',
        'Jika Anda sudah memiliki kunci sandi, kunci itu tetap berlaku sampai Anda membuat yang baru.'
      ],
      button: { label: 'Buat kunci sandi', url },
      footer: 'Jika Anda tidak menunggu email ini, jangan buka tautannya, dan beri tahu seorang administrator.'
    }),
  operatorInvited: ({ email, role }) =>
    renderMail({
      locale,
      subject: `${email} diundang ke konsol Tandem`,
      title: 'Sebuah undangan',
      paragraphs: [
        `${email} diundang ke konsol, dengan peran ${roles[role]}. Tautannya hanya dikirim kepada orang itu.`,
        'Jika Anda tidak tahu alasannya, keluarkan orang itu di halaman Operator, dan tanyakan kepada administrator lain.'
      ],
      footer
    }),
  operatorEnrolled: ({ email, role }) =>
    renderMail({
      locale,
      subject: `${email} memiliki kunci sandi baru untuk konsol Tandem`,
      title: 'Kunci sandi baru',
      paragraphs: [
        `${email} telah membuat kunci sandi untuk konsol. Perannya ${roles[role]}. Kunci sandi sebelumnya tidak ` +
        'berlaku lagi.',
        'Jika ini tidak terduga, keluarkan orang itu di halaman Operator, dan tanyakan kepada administrator lain.'
      ],
      footer
    }),
  webhookDisabled: ({ host, reason, url }) =>
    renderMail({
      locale,
      subject: `Webhook ke ${host} dinonaktifkan`,
      title: 'Sebuah webhook dinonaktifkan',
      paragraphs: [
        `Alamat webhook di ${host} tidak menerima apa pun selama tiga hari, jadi tidak ada lagi yang dikirim ke sana. ` +
        `Percobaan terakhir: ${reason}.`,
        'Aktifkan lagi di halaman Webhook jika sudah berfungsi. Di sana Anda juga dapat mengirim ulang yang terlewat.'
      ],
      button: { label: 'Buka halaman Webhook', url },
      footer
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
