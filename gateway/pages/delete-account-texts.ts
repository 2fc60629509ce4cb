import type { Language } from '@tandem/http-kit'

interface Texts {
  title: string
  /** `{developer}` is replaced. */
  about: string
  sections: { heading: string, items: string[] }[]
  email: string
  requestLink: string
  agree: string
  later: string
  now: string
  keep: string
  sent: string
  /** `{date}` is replaced. */
  scheduled: string
  running: string
  erased: string
  canceled: string
  kept: string
  pending: string
  begun: string
  changed: string
  expired: string
  unknown: string
  failed: string
}

/** The texts of the page that deletes an account. */
export const texts: Record<Language, Texts> = {
  en: {
    title: 'Delete your Tandem account',
    about: 'This page deletes an account of the app Tandem by {developer}. You do not need the app for it.',
    sections: [
      {
        heading: 'What is deleted',
        items: [
          'Your profile, photos, posts, comments, likes, stories and follows',
          'Your matches and chats, for both people',
          'Your workouts, meals, measurements, goals and records',
          'Your sign-in, devices, notifications and mails'
        ]
      },
      {
        heading: 'What stays, and for how long',
        items: [
          'Reports about you and what they quote: 180 days after the last decision, as evidence',
          'Decisions of our team about you: 24 months',
          'If you are banned: a code from which nobody can read your address, 36 months',
          'Your username, without you: 90 days, so that no stranger gets your mentions',
          'Backups: up to 35 days. What comes back from one is deleted again'
        ]
      },
      {
        heading: 'Subscriptions',
        items: [
          'A store goes on to bill until you cancel there: on iPhone in Settings, your name, Subscriptions; on Android in ' +
          'the Play Store, Payments and subscriptions.'
        ]
      },
      {
        heading: 'A copy of your data',
        items: [
          'You can request a <a href="my-data">copy of your data</a> in the settings of the app before you delete your account.'
        ]
      }
    ],
    email: 'The email address of your account',
    requestLink: 'Send me a link',
    agree: 'I want to delete my account and everything in it',
    later: 'Delete my account',
    now: 'Delete at once, without time to change my mind',
    keep: 'Keep my account',
    sent: 'If this address has an account, we have sent a link to it. It expires in one hour.',
    scheduled: 'Your account will be deleted on {date}. Nobody sees you any more, and all devices are signed out. ' +
      'To change your mind, use the link in our email, or sign in before that date.',
    running: 'Your account is being deleted.',
    erased: 'Your account is deleted.',
    canceled: 'This deletion was canceled.',
    kept: 'Your account stays, with everything in it. Please sign in to the app.',
    pending: 'The deletion of this account is already under way.',
    begun: 'The deletion has begun and cannot be canceled any more.',
    changed:
      'The address of this account has changed within seven days. You can delete the account with time to change ' +
      'your mind.',
    expired: 'This link has expired or was already used. Please request a new one.',
    unknown: 'There is no such deletion.',
    failed: 'Something went wrong. Please try again in a moment.'
  },
  id: {
    title: 'Hapus akun Tandem Anda',
    about: 'Halaman ini menghapus akun aplikasi Tandem dari {developer}. Anda tidak memerlukan aplikasinya.',
    sections: [
      {
        heading: 'Yang dihapus',
        items: [
          'Profil, foto, postingan, komentar, suka, cerita, dan daftar ikutan Anda',
          'Kecocokan dan obrolan Anda, untuk kedua orang',
          'Latihan, makanan, ukuran tubuh, target, dan rekor Anda',
          'Data masuk, perangkat, notifikasi, dan email Anda'
        ]
      },
      {
        heading: 'Yang disimpan, dan berapa lama',
        items: [
          'Laporan tentang Anda beserta kutipannya: 180 hari setelah keputusan terakhir, sebagai bukti',
          'Keputusan tim kami tentang Anda: 24 bulan',
          'Jika Anda diblokir: sebuah kode yang tidak memperlihatkan alamat Anda, 36 bulan',
          'Nama pengguna, tanpa Anda: 90 hari, agar sebutan Anda tidak jatuh ke orang lain',
          'Cadangan data: paling lama 35 hari. Data yang kembali dari cadangan dihapus lagi'
        ]
      },
      {
        heading: 'Langganan',
        items: [
          'Toko aplikasi tetap menagih sampai Anda membatalkannya di sana: di iPhone lewat Pengaturan, nama Anda, ' +
          'Langganan; di Android lewat Play Store, Pembayaran dan langganan.'
        ]
      },
      {
        heading: 'Salinan data Anda',
        items: ['Anda dapat meminta <a href="my-data">salinan data</a> di pengaturan aplikasi sebelum menghapus akun.']
      }
    ],
    email: 'Alamat email akun Anda',
    requestLink: 'Kirim tautan',
    agree: 'Saya ingin menghapus akun saya beserta seluruh isinya',
    later: 'Hapus akun saya',
    now: 'Hapus sekarang juga, tanpa waktu untuk membatalkan',
    keep: 'Pertahankan akun saya',
    sent: 'Jika alamat ini memiliki akun, kami telah mengirim tautan ke sana. Tautan berlaku satu jam.',
    scheduled: 'Akun Anda akan dihapus pada {date}. Orang lain sudah tidak dapat melihat Anda, dan semua perangkat ' +
      'sudah keluar dari akun. Untuk membatalkannya, gunakan tautan di email kami, atau masuk sebelum tanggal itu.',
    running: 'Akun Anda sedang dihapus.',
    erased: 'Akun Anda sudah dihapus.',
    canceled: 'Penghapusan ini sudah dibatalkan.',
    kept: 'Akun Anda tetap ada beserta seluruh isinya. Silakan masuk di aplikasi.',
    pending: 'Penghapusan akun ini sudah berjalan.',
    begun: 'Penghapusan sudah dimulai dan tidak dapat dibatalkan lagi.',
    changed: 'Alamat akun ini diganti dalam tujuh hari terakhir. Anda dapat menghapus akun ini dengan masa tenggang.',
    expired: 'Tautan ini sudah tidak berlaku. Silakan minta yang baru.',
    unknown: 'Penghapusan ini tidak ditemukan.',
    failed: 'Belum berhasil. Silakan coba lagi sebentar lagi.'
  }
}
