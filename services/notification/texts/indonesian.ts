import type { Texts } from './kinds.ts'

// {name}: siapa yang melakukannya. {quoted}: apakah {excerpt} ada, hanya untuk tulisan yang boleh dibaca semua orang.
const quote = '{quoted, select, yes {: “{excerpt}”} other {}}'

export const indonesian: Texts = {
  postMentioned: { title: 'Sebutan baru', body: `{name} menyebut Anda dalam sebuah postingan${quote}` },
  commentMentioned: { title: 'Sebutan baru', body: `{name} menyebut Anda dalam sebuah komentar${quote}` },
  postLiked: {
    title: 'Suka baru',
    body: `{others, plural, =0 {{name}} other {{name} dan # lainnya}} menyukai postingan Anda${quote}`
  },
  postCommented: { title: 'Komentar baru', body: `{name} mengomentari postingan Anda${quote}` },
  commentReplied: { title: 'Balasan baru', body: `{name} membalas komentar Anda${quote}` },
  followed: { title: 'Pengikut baru', body: '{name} kini mengikuti Anda' },
  storyReacted: { title: 'Reaksi pada cerita Anda', body: '{name} bereaksi pada cerita Anda: {emoji}' },
  messageReceived: {
    title: '{name}',
    body: '{hasImage, select, true {{name} mengirim foto} other {{name} mengirim pesan}}'
  },
  likeReceived: {
    title: 'Ada yang tertarik pada Anda',
    body: '{swipeType, select, WORKOUT_BUDDY {{name} ingin berolahraga bersama Anda} other {{name} menyukai Anda}}'
  },
  matchMade: {
    title: 'Anda cocok!',
    body: `{matchType, select,
      WORKOUT_BUDDY {Anda dan {name} bisa berolahraga bersama. Sapa sekarang!}
      other {Anda dan {name} saling menyukai. Sapa sekarang!}}`
  },
  verificationDecided: {
    title: '{approved, select, true {Foto Anda terverifikasi} other {Foto Anda belum terverifikasi}}',
    body: `{approved, select,
      true {Mulai sekarang profil FitMatch Anda menunjukkannya.}
      other {{reason, select, none {Silakan coba lagi dengan swafoto lain.} other {{reason}}}}}`
  },
  reportResolved: {
    title: 'Laporan Anda telah ditinjau',
    body: `{action, select,
      SUSPEND {Terima kasih. Profil yang Anda laporkan telah dikeluarkan dari FitMatch.}
      DISMISS {Terima kasih. Kali ini kami tidak menemukan pelanggaran.}
      NO_VIOLATION {Terima kasih. Kali ini kami tidak menemukan pelanggaran.}
      ACTION_TAKEN {Terima kasih. Kami menemukan pelanggaran dan telah menindaklanjutinya.}
      other {Terima kasih. Kasus ini telah ditutup.}}`
  },
  decisionMade: {
    title: 'Keputusan tentang akun Anda',
    body: `{action, select,
      HIDE_CONTENT {Salah satu kiriman Anda disembunyikan.}
      RESTORE_CONTENT {Salah satu kiriman Anda terlihat lagi.}
      REMOVE_PHOTO {Sebuah foto dihapus dari profil FitMatch Anda.}
      WARN {Anda menerima peringatan.}
      RESTRICT {{scope, select,
        POSTING {Untuk sementara Anda tidak dapat memposting.}
        FITMATCH {Profil FitMatch Anda disembunyikan.}
        other {Akun Anda dibatasi.}}}
      BAN {Akun Anda diblokir.}
      LIFT {Pembatasan akun Anda telah berakhir.}
      other {Kami mengambil keputusan tentang akun Anda.}} Buka status akun Anda untuk membaca alasannya dan mengajukan banding.`
  },
  subscriptionNoticed: {
    title: 'Langganan Anda',
    body: `{kind, select,
      BEGUN {Langganan Anda sudah dimulai. Nikmati semua yang dibukanya!}
      PAYMENT_FAILED {Toko tidak dapat menagih langganan Anda. Periksa cara bayar Anda di sana.}
      ENDED {Langganan Anda telah berakhir. Anda dapat berlangganan lagi kapan saja.}
      REFUNDED {Uang langganan Anda dikembalikan dan langganannya berakhir.}
      MOVED {Langganan Anda dipindahkan ke akun lain. Pulihkan jika bukan Anda.}
      RECEIVED {Sebuah langganan dipindahkan ke akun Anda.}
      BILLED_TWICE {Dua langganan ditagih untuk akun Anda. Batalkan salah satunya di tokonya.}
      other {Ada yang berubah pada langganan Anda.}}`
  },
  badgeEarned: {
    title: 'Lencana baru',
    body: `Anda mendapat {badge, select,
      PHOTO_VERIFIED {lencana foto terverifikasi}
      CONSISTENT {lencana latihan konsisten}
      PR_ACHIEVER {lencana rekor pribadi}
      VETERAN {lencana setahun menjadi anggota}
      EARLY_ADOPTER {lencana anggota pertama}
      other {lencana baru}}.`
  },
  levelReached: { title: 'Level {level, number}!', body: 'Anda mencapai level {level, number}. Teruskan!' },
  recordSet: {
    title: 'Rekor pribadi baru',
    body: '{exercise}: {weightKg, plural, =0 {} other {# kg, }}{reps, plural, other {# repetisi}}'
  },
  referralCounted: {
    title: '{name} sudah bergabung',
    body: `{days, plural,
      =0 {{name} mendaftar dengan kode Anda.}
      other {{name} mendaftar dengan kode Anda. Anda mendapat # hari premium lagi.}}`
  },
  referralRewarded: {
    title: 'Selamat datang',
    body: '{days, plural, other {Anda mendapat # hari premium, karena {name} mengundang Anda.}}'
  },
  achievementEarned: {
    title: 'Pencapaian terbuka',
    body: `{achievement, select,
      FIRST_WORKOUT {Latihan pertama Anda selesai. Awal yang baik!}
      TEN_WORKOUTS {Sepuluh latihan selesai. Anda serius!}
      FIFTY_WORKOUTS {Lima puluh latihan selesai. Teruskan!}
      HUNDRED_WORKOUTS {Seratus latihan selesai. Luar biasa!}
      FIVE_HUNDRED_WORKOUTS {Lima ratus latihan selesai. Luar biasa!}
      STREAK_7 {Anda mencatat 7 hari berturut-turut.}
      STREAK_30 {Anda mencatat 30 hari berturut-turut.}
      STREAK_100 {Anda mencatat 100 hari berturut-turut. Luar biasa!}
      STREAK_365 {Anda mencatat setiap hari selama setahun. Luar biasa!}
      WEEK_STREAK_4 {Anda berlatih 4 minggu berturut-turut.}
      FIRST_PR {Anda mencetak rekor pribadi pertama.}
      TEN_PRS {Anda mencetak sepuluh rekor pribadi.}
      LEVEL_5 {Anda mencapai level 5.}
      LEVEL_10 {Anda mencapai level 10.}
      LEVEL_25 {Anda mencapai level 25.}
      FIRST_PROGRAM {Anda menyelesaikan setiap hari dari sebuah program.}
      FIVE_ACTIVITIES {Anda mengikuti lima aktivitas bersama orang lain.}
      other {Anda membuka pencapaian baru.}}`
  },
  buddyRequested: { title: 'Permintaan teman olahraga', body: '{name} ingin berolahraga bersama Anda: {sport}' },
  buddyAccepted: { title: 'Anda punya teman olahraga', body: '{name} menerima permintaan Anda: {sport}' },
  activityInvited: { title: 'Latihan bersama?', body: '{name} mengajak Anda: {sport}, {startsAt}' },
  activityAsked: { title: 'Ada yang ingin ikut', body: '{name} meminta tempat: {sport}, {startsAt}' },
  activityPlaceFree: {
    title: 'Ada tempat kosong lagi',
    body: '{sport}, {startsAt}{waitingCount, plural, =0 {} other {. # orang menunggu}}'
  },
  activityConfirmed: { title: 'Sudah pasti', body: 'Anda dan {name} berlatih bersama: {sport}, {startsAt}' },
  activityChanged: {
    title: 'Rencana berubah',
    body: '{name} mengubah rencana: {sport}, {startsAt}. Mohon jawab lagi.'
  },
  activityMoved: {
    title: 'Perubahan waktu setempat',
    body: 'Aturan waktu setempat berubah. Rencana Anda tetap pada jam yang sama: {sport}, {startsAt}'
  },
  activityCanceled: {
    title: '{reason, select, CANCELED {Rencana dibatalkan} other {Anda tidak lagi punya tempat}}',
    body: '{sport}, {startsAt}'
  },
  activityReminded: {
    title: `{left, select,
      HOURS {Mulai {hoursLeft, plural, other {# jam}} lagi}
      MINUTES {Mulai {minutesLeft, plural, other {# menit}} lagi}
      other {Pengingat latihan}}`,
    body: '{sport}, {startsAt}'
  },
  reservationConfirmed: { title: 'Pemesanan dikonfirmasi', body: '{title}, {startsAt}' },
  reservationReminded: { title: 'Jangan lupa pemesanan Anda', body: '{title}, {startsAt}' },
  fastingFinished: { title: 'Puasa Anda selesai', body: 'Anda berpuasa selama {hours, plural, other {# jam}}. Hebat!' },
  fastGoalReached: {
    title: 'Target puasa tercapai',
    body: 'Puasa Anda sudah mencapai {hours, plural, other {# jam}}. Puasa berjalan sampai Anda mengakhirinya.'
  },
  bookingTold: { title: '{title_id}', body: '{body_id}' },
  announcement: { title: '{title_id}', body: '{body_id}' },
  broadcast: { title: '{title_id}', body: '{body_id}' },
  suspended: {
    title: 'Profil FitMatch Anda ditangguhkan',
    body: 'Profil tidak ditampilkan sampai tim kami meninjaunya.'
  },
  restored: {
    title: 'Profil FitMatch Anda kembali',
    body: 'Tim kami telah meninjaunya, dan orang lain dapat melihatnya lagi.'
  },
  passwordChanged: {
    title: 'Kata sandi Anda diubah',
    body: `{how, select,
      INITIAL {Akun Anda kini memiliki kata sandi.}
      CLEARED {Kata sandi akun Anda dihapus. Anda dapat membuat yang baru.}
      other {Jika itu bukan Anda, segera pilih “Lupa kata sandi”.}}`
  },
  providerLinked: {
    title: 'Cara masuk yang baru',
    body: 'Anda kini dapat masuk dengan {provider, select, PROVIDER_A {penyedia A} other {penyedia B}}. ' +
      'Jika itu bukan Anda, hapus penyedia itu dan ubah kata sandi Anda.'
  },
  newSignIn: {
    title: 'Ada yang baru masuk',
    body: 'Akun Anda dibuka di {device, select, none {perangkat baru} other {{device}}}. ' +
      'Jika itu bukan Anda, keluarkan perangkat itu dan ubah kata sandi Anda.'
  },
  trustedContactChanged: {
    title: `{change, select,
      CONFIRMED {Kontak tepercaya Anda sudah setuju}
      DECLINED {Kontak tepercaya Anda menolak}
      REMOVED {Kontak tepercaya Anda dihapus}
      ENDED {Anda tidak lagi memiliki kontak tepercaya}
      other {Kontak tepercaya Anda diubah}}`,
    body: `{change, select,
      CONFIRMED {Anda dapat memberi tahu mereka sebelum pertama kali bertemu seseorang.}
      DECLINED {Mereka tidak menerima email tentang Anda. Anda dapat memilih orang lain.}
      REMOVED {Jika itu bukan Anda, ubah kata sandi Anda.}
      ENDED {Mereka tidak dapat lagi menjadi kontak Anda. Pilih orang lain sebelum pertama kali bertemu seseorang.}
      other {Kami meminta persetujuan mereka. Jika itu bukan Anda, ubah kata sandi Anda.}}`
  },
  meetingAsked: {
    title: 'Apakah Anda aman?',
    body: 'Beri kabar di aplikasi. Jika tidak, kontak tepercaya Anda menerima email. Tandem bukan layanan darurat.'
  },
  meetingOverdue: {
    title: 'Kontak tepercaya Anda sudah diberi tahu',
    body: 'Anda belum memberi kabar setelah kegiatan Anda. Begitu Anda memberi kabar, mereka ikut diberi tahu. ' +
      'Tandem bukan layanan darurat.'
  },
  meetingAlarmFailed: {
    title: 'Kontak tepercaya Anda belum diberi tahu',
    body: 'Anda belum memberi kabar, dan email kami kepada kontak tepercaya Anda gagal. Belum ada yang diberi tahu. ' +
      'Tandem bukan layanan darurat.'
  },
  meetingNotShared: {
    title: 'Kontak tepercaya Anda belum tahu tentang kegiatan Anda',
    body: 'Email kami tidak dapat disampaikan. Beri tahu seseorang sendiri, atau pilih kontak lain.'
  },
  meetingDisarmed: {
    title: 'Pemeriksaan keamanan Anda berakhir',
    body: `{reason, select,
      ACCOUNT_HIDDEN {Akun Anda sempat ditutup atau dijeda. Kontak tepercaya Anda diberi tahu bahwa Anda tidak dapat memberi kabar.}
      CONTACT_ENDED {Anda tidak memiliki kontak tepercaya yang setuju. Tidak ada yang diberi tahu jika Anda tidak memberi kabar.}
      other {Anda tidak lagi ikut dalam kegiatan itu. Tidak ada yang diberi tahu jika Anda tidak memberi kabar.}}`
  },
  inboxChanged: {
    title: 'Kotak masuk diperbarui',
    body: 'Push tanpa tampilan: notifikasi sudah dibaca di perangkat lain, atau tidak berlaku lagi.'
  },
  pushTest: { title: 'Berhasil', body: 'Notifikasi Tandem sampai di perangkat ini.' }
}
