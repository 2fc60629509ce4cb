import { translateErrors } from '@tandem/process-kit'
import * as errors from './errors.ts'

translateErrors(errors, {
  PostingRestricted: 'Saat ini Anda tidak dapat memposting, berkomentar, atau bereaksi. Lihat status akun Anda.',
  PostNotFound: 'Postingan tidak ditemukan',
  PostForbidden: 'Anda tidak memiliki akses ke postingan ini',
  PostGone: 'Postingan ini telah dihapus',
  NotYourPost: 'Hanya pembuat postingan yang dapat melakukan ini',
  PostEmpty: 'content wajib diisi, kecuali postingan menampilkan hal lain',
  AlreadyLiked: 'Anda sudah menyukai postingan ini',
  NotLiked: 'Anda belum menyukai postingan ini',
  CommentNotFound: 'Komentar tidak ditemukan',
  NotYourComment: 'Hanya penulis komentar atau pembuat postingan yang dapat melakukan ini',
  PollIncomplete:
    'pollQuestion dan pollOptions wajib diisi: jajak pendapat memiliki pertanyaan dan 2 sampai 10 pilihan',
  PollEndInPast: 'pollEndsAt harus di masa mendatang',
  PollEndTooLate: 'pollEndsAt paling lama satu tahun dari sekarang',
  PollOptionsEqual: 'pollOptions harus berbeda satu sama lain',
  PollNotFound: 'Postingan ini tidak memiliki jajak pendapat',
  PollOptionNotFound: 'Pilihan jajak pendapat tidak ditemukan',
  AlreadyVoted: 'Anda sudah memberikan suara dalam jajak pendapat ini',
  NotVoted: 'Anda belum memberikan suara dalam jajak pendapat ini',
  PollClosed: 'Jajak pendapat ini sudah ditutup',
  PersonNotFound: 'Pengguna tidak ditemukan',
  AlreadyFollowing: 'Anda sudah mengikuti pengguna ini',
  NotFollowing: 'Anda tidak mengikuti pengguna ini',
  CannotFollowSelf: 'Anda tidak dapat mengikuti diri sendiri',
  StoryNotFound: 'Cerita tidak ditemukan',
  StoryExpired: 'Cerita ini sudah berakhir setelah 24 jam',
  NotYourStory: 'Hanya pembuat cerita yang dapat melakukan ini',
  StoryLimitExceeded: 'Anda telah mencapai batas 10 cerita hari ini. Coba lagi besok.',
  NotReacted: 'Anda belum bereaksi terhadap cerita ini',
  NotEmoji: 'emoji harus berupa satu sampai empat emoji',
  MediaGone: 'Sebuah gambar telah dihapus. Unggah kembali.',
  MediaNotAllowed: 'Media ini tidak dapat digunakan. Unggah terlebih dahulu.',
  TooManyReports: 'Anda telah mencapai batas 20 laporan hari ini. Coba lagi besok.'
})
