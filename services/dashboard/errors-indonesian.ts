import { translateErrors } from '@tandem/process-kit'
import * as errors from './errors.ts'

translateErrors(errors, {
  LogNotFound: 'Catatan tidak ditemukan',
  ProgramNotFound: 'Program tidak ditemukan',
  TooManyPrograms: 'Anda telah mencapai jumlah program maksimum. Hapus salah satu terlebih dahulu.',
  ExerciseNotFound: 'Latihan tidak ditemukan',
  TooManyExercises: 'Anda telah mencapai jumlah latihan sendiri maksimum. Hapus salah satu terlebih dahulu.',
  TemplateNotFound: 'Templat program tidak ditemukan',
  ProgramDayNotFound: 'Hari program tidak ditemukan',
  FastNotFound: 'Puasa tidak ditemukan',
  FastRunning: 'Puasa sedang berjalan. Akhiri terlebih dahulu.',
  FastOverlaps: 'Anda memiliki puasa lain pada waktu ini',
  FastEnded: 'Puasa ini sudah berakhir',
  AgeRestricted: 'Anda harus berusia minimal %d tahun untuk mencatat puasa',
  SuggestionForAdults: 'Saran hanya untuk orang dewasa: rumusnya tidak berlaku untuk orang yang lebih muda',
  AgeUnknown: 'Tambahkan tanggal lahir ke profil Anda terlebih dahulu',
  ImportNotFound: 'Impor tidak ditemukan',
  ImportRunning: 'Impor lain belum selesai. Tunggu hingga selesai.',
  UndoExpired: 'Impor dapat dibatalkan selama tujuh hari',
  NotMultipart: 'Kirim berkas sebagai multipart/form-data',
  ImportFileMissing: 'file wajib diisi: kirim berkas di kolom formulir ini',
  ImportFileTooLarge: 'Berkas tidak boleh lebih dari 25 MB',
  ImportFormMalformed: 'Formulir tidak lengkap atau salah; kirim kembali'
})
