import { translateErrors } from '@tandem/process-kit'
import * as errors from './errors.ts'

translateErrors(errors, {
  AppAccountMissing: 'Akun aplikasi Anda belum dikenal di sini. Minta administrator menambahkannya',
  BroadcastNotFound: 'Siaran ini tidak ditemukan, atau sudah selesai',
  NotificationNotFound: 'Notifikasi tidak ditemukan',
  EmptyQuietHours: 'quietHours.start dan quietHours.end harus berbeda',
  EmailNotVerified: 'Verifikasi alamat email Anda terlebih dahulu',
  ContactNotFound: 'Anda tidak memiliki kontak tepercaya',
  ContactDeclined: 'Alamat ini menolak menjadi kontak tepercaya Anda. Pilih orang lain',
  ContactNeeded:
    'Kontak ini menunggu kabar dari Anda setelah kegiatan. Akhiri dulu, atau konfirmasi bahwa itu ikut berakhir',
  InvalidContactLink: 'Tautan ini sudah tidak berlaku',
  TooManyContactChanges: 'Anda telah mengubah kontak tepercaya 3 kali hari ini. Coba lagi besok',
  TooManyContactRequests: 'Anda sudah meminta alamat ini 3 kali dalam 30 hari. Pilih orang lain',
  InvalidProducerKey: 'Kunci ini tidak berlaku',
  NoEventAccepted: 'Tidak ada peristiwa yang diterima. Alasannya ada di hasil',
  ProducerExists: 'Sudah ada pengirim dengan nama ini',
  ProducerNotFound: 'Pengirim ini tidak ditemukan',
  WebhookNotFound: 'Alamat webhook tidak ditemukan, atau sudah dinonaktifkan',
  WebhookIsDisabled: 'Alamat webhook ini dinonaktifkan. Aktifkan dulu',
  InvalidWebhookUrl:
    'url harus berupa alamat https tanpa kata sandi. WEBHOOK_PRIVATE_HOSTS menyebut host yang boleh privat'
})
