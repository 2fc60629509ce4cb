import type { shell as english } from '../english/shell.ts'

export const shell: typeof english = {
  layout: {
    console: 'Konsol',
    skip: 'Langsung ke isi',
    menu: 'Menu',
    close: 'Tutup menu',
    moderation: 'Moderasi',
    support: 'Bantuan',
    operations: 'Operasi',
    otherLanguage: 'English',
    signOut: 'Keluar',
    back: 'Kembali',
    more: 'Halaman berikutnya',
    unavailable: (services) => `Saat ini tidak tersedia: ${services}. Bagian lain halaman ini lengkap.`
  },
  pages: {
    queue: 'Antrean',
    verifications: 'Verifikasi',
    appeals: 'Banding',
    people: 'Pengguna',
    issues: 'Masalah masuk',
    erasures: 'Penghapusan dan salinan',
    proposals: 'Perlu konfirmasi',
    broadcasts: 'Siaran',
    deadLetters: 'Pesan gagal',
    system: 'Sistem',
    staff: 'Operator',
    options: 'Pilihan',
    audit: 'Audit'
  },
  done: {
    decided: 'Sudah diputuskan. Layanan menjalankannya dalam beberapa detik.',
    dismissed: 'Kasus yang terbuka sudah ditutup.',
    nothingLeft: 'Tidak ada lagi kasus yang belum dikerjakan.',
    answered: 'Banding sudah dijawab.',
    proposed: 'Operator lain sekarang harus mengonfirmasi ini, dalam 72 jam.',
    tested: 'Hanya Anda yang menerimanya.',
    canceled: 'Salinan dibatalkan.',
    sessionsEnded: 'Semua sesi orang ini berakhir.',
    providerRemoved: 'Penyedia itu dihapus. Semua sesi orang ini berakhir.',
    'case-hold': 'Kasus ditahan.',
    'case-release': 'Penahanan berakhir.',
    'proposal-confirm': 'Sudah dikonfirmasi.',
    'proposal-withdraw': 'Sudah ditarik.',
    held: 'Penghapusan ditahan.',
    released: 'Penghapusan dilanjutkan.',
    erasure: 'Penghapusan sudah dijadwalkan.',
    broadcast: 'Siaran sedang dikirim.',
    stopped: 'Siaran tidak dikirim lagi kepada siapa pun.',
    option: 'Pilihan disimpan.',
    replayed: 'Layanan memproses pesan itu lagi.',
    deleted: 'Pesan dihapus.',
    invited: 'Tautannya sedang dikirim. Tautan itu berlaku sekali, selama 24 jam.',
    changed: 'Peran diubah. Semua sesi operator itu berakhir.',
    removed: 'Operator dikeluarkan.'
  },
  signIn: {
    title: 'Masuk',
    text: 'Gunakan kunci sandi perangkat ini atau kunci keamanan Anda. Tidak ada kata sandi.',
    button: 'Masuk dengan kunci sandi',
    needsScript: 'Kunci sandi memerlukan JavaScript. Selain itu semuanya berjalan tanpanya.',
    enroll: 'Tambahkan kunci sandi',
    enrollText: 'Anda diundang ke konsol ini. Buat kunci sandi di perangkat ini; selanjutnya Anda masuk dengannya.',
    enrollButton: 'Buat kunci sandi',
    linkMissing: 'Silakan buka lagi tautan undangan. Tautan berlaku sekali, dalam 24 jam.',
    ended: 'Sesi Anda telah berakhir',
    endedText:
      'Sesi berakhir setelah 20 menit tanpa kegiatan, dan setelah 8 jam. Masuklah lagi; tidak ada yang diubah.',
    failed: 'Kunci sandi tidak digunakan. Silakan coba lagi.',
    noPasskey: 'Peramban ini tidak mendukung kunci sandi. Buka konsol lewat https atau di localhost.'
  },
  problems: {
    notFound: 'Tidak ditemukan',
    notFoundText: 'Halaman itu tidak ada, atau peran Anda tidak dapat membukanya.',
    unavailable: 'Saat ini tidak tersedia',
    unavailableText: (service) => `Layanan ${service} tidak merespons. Silakan coba lagi sebentar lagi.`,
    refused: 'Ini tidak dilakukan',
    failed: 'Terjadi kesalahan',
    failedText: 'Kesalahannya tercatat di log. Silakan coba lagi.',
    confirm: 'Konfirmasi dengan kunci sandi',
    confirmText: 'Ini memerlukan kunci sandi yang digunakan dalam sepuluh menit terakhir.',
    confirmButton: 'Konfirmasi dan lanjutkan',
    typed: 'Yang Anda tulis',
    tooMany: 'Terlalu banyak percobaan dari jaringan Anda. Coba lagi dalam satu menit.',
    codes: {
      CASE_CLAIMED: 'Operator lain sedang mengerjakan kasus ini.',
      CASE_CHANGED: 'Kasus ini berubah sejak Anda membukanya, atau sudah diputuskan orang lain. Buka lagi.',
      FORBIDDEN: 'Peran Anda tidak dapat melakukan ini, atau ini tentang diri Anda sendiri.',
      NOT_INDEPENDENT:
        'Ini diusulkan oleh operator yang mengundang Anda, atau yang Anda undang. Orang lain harus mengonfirmasinya.',
      PASSKEY_TOO_NEW: 'Kunci sandi Anda belum berumur sehari. Besok Anda dapat mengonfirmasi usulan orang lain.',
      RATE_LIMITED: 'Anda sudah melihat 60 orang dalam jam ini. Silakan lanjutkan nanti.',
      APP_ACCOUNT_MISSING:
        'Akun Anda di aplikasi tidak dikenal di sini. Administrator lain dapat mengundang Anda dengannya.',
      INVALID_PASSKEY: 'Kunci sandi ini tidak dikenal di sini.',
      INVALID_INVITATION: 'Tautan ini sudah digunakan, atau lebih lama dari 24 jam.',
      USER_NOT_FOUND: 'Tidak ada orang dengan alamat, nama pengguna, atau id ini.'
    }
  },
  keys: {
    title: 'Tombol',
    close: 'Tutup',
    yes: 'Ya',
    no: 'Batal',
    list: {
      'j k': 'baris berikutnya dan sebelumnya',
      Enter: 'buka baris',
      x: 'tandai baris',
      n: 'ambil kasus berikutnya',
      u: 'kembali ke atas',
      c: 'ambil kasus ini',
      'd v': 'tidak melanggar, melanggar',
      s: 'tulis pernyataan',
      p: 'buka orangnya',
      'a r': 'setujui; tolak, dengan alasan',
      '1 … 9': 'ambil gambar; sekali lagi: tampilkan jelas',
      '?': 'daftar tombol ini'
    }
  },
  roles: { SUPPORT: 'Bantuan', MODERATOR: 'Moderator', ADMIN: 'Administrator' }
}
