import type { operations as english } from '../english/operations.ts'

export const operations: typeof english = {
  broadcasts: {
    sent: 'Siaran sejauh ini',
    none: 'Belum ada siaran.',
    write: 'Tulis siaran',
    title: 'Judul',
    body: 'Teks',
    everybody: 'Semua orang menerimanya, masing-masing dalam bahasanya.',
    test: 'Kirim kepada saya dulu',
    send: 'Kirim kepada semua orang',
    confirm: 'Kirim ini kepada semua orang?',
    recipients: (number) => `${number} penerima sejauh ini`,
    finished: 'Selesai',
    running: 'Sedang dikirim',
    stop: 'Hentikan'
  },
  deadLetters: {
    text: 'Pesan antarlayanan yang tidak dapat diproses, dan tidak dicoba lagi dengan sendirinya.',
    none: 'Tidak ada pesan gagal.',
    attempts: (number) => `${number} percobaan`,
    since: 'sejak',
    replay: 'Proses lagi',
    delete: 'Hapus',
    deleteConfirm: 'Hapus pesan ini untuk selamanya? Isinya hilang.'
  },
  system: {
    down: 'Tidak merespons',
    degraded: 'Terganggu',
    ready: 'Siap',
    missing: 'Pemeriksaan yang gagal',
    failed: 'Pesan yang gagal',
    dead: 'Pesan yang tidak dicoba lagi'
  },
  options: {
    text:
      'Yang dapat dipilih orang saat bergabung. Pilihan yang ditarik tetap milik yang sudah memilihnya, dan tidak ditawarkan lagi.',
    type: 'Daftar',
    types: {
      motivation: 'Motivasi',
      activity_style: 'Gaya kegiatan',
      sport_category: 'Jenis olahraga',
      sport: 'Olahraga',
      availability: 'Waktu dalam seminggu',
      fitmatch_interest: 'Minat di FitMatch'
    },
    show: 'Tampilkan',
    add: 'Tambah pilihan',
    id: 'Id',
    idHint: 'Huruf kecil, angka, dan garis bawah. Tidak pernah berubah.',
    english: 'Dalam bahasa Inggris',
    indonesian: 'Dalam bahasa Indonesia',
    icon: 'Emoji, atau alamat gambar',
    order: 'Urutan dalam daftar',
    retired: 'Ditarik',
    save: 'Simpan',
    retire: 'Tarik',
    restore: 'Tawarkan lagi'
  },
  producers: {
    text: 'Sistem perusahaan yang mengirim peristiwa, misalnya sistem pemesanan. Masing-masing memiliki kunci sendiri.',
    none: 'Belum ada sistem yang mengirim peristiwa.',
    add: 'Tambah pengirim',
    name: 'Nama',
    nameHint: 'Huruf kecil, angka dan tanda hubung, misalnya booking-jakarta.',
    types: 'Yang boleh dikirim',
    typeNames: {
      'booking.confirmed': 'Pemesanan yang dikonfirmasi',
      'booking.reminder': 'Pengingat pemesanan',
      'booking.cancelled': 'Pemesanan yang dibatalkan',
      'admin.announcement': 'Pengumuman dengan kata-kata pengirim'
    } as Record<string, string>,
    rate: 'Peristiwa per detik',
    perSecond: (number: number) => `paling banyak ${number} per detik`,
    dropped: (number: number) => `${number} peristiwa tanpa penerima`,
    lastUsed: 'Terakhir dipakai',
    neverUsed: 'Belum pernah dipakai',
    active: 'Aktif',
    revoked: 'Dicabut',
    keys: 'Kunci',
    added: 'ditambahkan',
    rotate: 'Kunci baru',
    revokeOld: 'Akhiri kunci lama',
    revokeOldConfirm: 'Akhiri semua kunci selain yang terbaru? Sistem yang masih mengirim kunci lama langsung ditolak.',
    revoke: 'Cabut',
    revokeConfirm: 'Cabut pengirim ini? Permintaan berikutnya langsung ditolak, dan itu tidak dapat dibatalkan.',
    newKey: (name: string) => `Kunci ${name}`,
    once: 'Salin sekarang: kunci ini tidak ditampilkan lagi. Sistem mengirimnya dengan setiap permintaan:',
    stillValid: 'Kunci sebelumnya tetap berlaku sampai Anda mengakhirinya.',
    back: 'Sudah saya salin'
  },
  calls: {
    text:
      'Panggilan dalam 90 hari terakhir menurut operasi, termasuk yang gagal. Versi adalah yang disebut aplikasi sendiri.',
    none: 'Belum ada panggilan.',
    calls: 'Panggilan',
    errors: 'Galat',
    versions: 'Versi',
    lastDay: 'Terakhir dipanggil',
    sunset: (day: string) => `berakhir ${day}`,
    names: { unknown: 'tidak disebut', other: 'lainnya' } as Record<string, string>
  },
  webhooks: {
    text: 'Sistem tim lain yang diberi tahu apa yang terjadi. Setiap webhook ditandatangani dengan rahasia alamatnya.',
    none: 'Belum ada yang dikirim ke sistem lain.',
    recent: 'Pengiriman terbaru',
    add: 'Tambah alamat',
    url: 'Alamat',
    urlHint: 'Alamat https publik. Alamat itu diperiksa pada setiap koneksi.',
    what: 'Yang diberitahukan',
    types: {
      'account.registered': 'Akun baru',
      'account.verified': 'Akun terverifikasi',
      'account.deleted': 'Akun yang dihapus',
      'subscription.changed': 'Langganan yang berubah',
      'post.created': 'Postingan publik baru',
      'report.decided': 'Laporan yang diputuskan',
      'match.created': 'Jumlah kecocokan setiap jam'
    },
    enabled: 'Aktif',
    disabled: 'Dinonaktifkan',
    disabledSince: 'Dinonaktifkan',
    pending: (number) => `${number} menunggu`,
    lastSuccess: 'terakhir diterima',
    noSuccess: 'belum ada yang diterima',
    since: 'Sejak (UTC)',
    replay: 'Kirim lagi',
    enable: 'Aktifkan',
    disable: 'Nonaktifkan',
    disableConfirm: 'Nonaktifkan alamat ini? Yang menunggu tidak dikirim. Anda dapat mengirimnya lagi dalam 14 hari.',
    attempts: (number) => `${number} percobaan`,
    next: 'percobaan berikutnya',
    states: { pending: 'Menunggu', sent: 'Diterima', failed: 'Gagal' },
    secretOf: (host) => `Rahasia ${host}`,
    once: 'Salin sekarang: rahasia ini tidak ditampilkan lagi. Sistem lain memeriksa setiap webhook dengannya:',
    back: 'Sudah saya salin'
  },
  staff: {
    invite: 'Undang operator',
    email: 'Alamat surel',
    role: 'Peran',
    account: 'Id akunnya sendiri di aplikasi, jika ada',
    accountHint: 'Tidak ada yang memutuskan tentang dirinya sendiri.',
    inviteHint:
      'Hanya orang itu yang menerima tautan, lewat surel, dan semua administrator diberi tahu. Administrator baru memerlukan dua dari Anda.',
    invited: 'Diundang',
    removed: 'Dikeluarkan',
    you: 'Anda',
    lastSeen: 'Terakhir terlihat',
    neverSeen: 'Belum pernah masuk',
    change: 'Ubah peran',
    restore: 'Izinkan masuk lagi',
    reinvite: 'Kunci sandi hilang',
    reinviteConfirm: 'Kirim tautan baru kepada operator ini? Kunci sandinya berlaku sampai ada yang baru.',
    remove: 'Keluarkan',
    removeConfirm: 'Keluarkan operator ini dan akhiri semua sesinya?'
  },
  audit: {
    text:
      'Semua yang dilakukan dan dibaca operator, yang terbaru lebih dulu. Tidak ada yang dapat mengubahnya tanpa ketahuan.',
    service: 'Layanan',
    none: 'Belum ada kegiatan.',
    you: '(Anda)'
  }
}
