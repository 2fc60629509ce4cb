import type { Language } from '@tandem/http-kit'
import type { Targets } from './formulas.ts'

interface Texts {
  praise: string[]
  firstWorkout: (targets: Targets) => string[]
  moreWorkouts: (targets: Targets) => string[]
  noFood: string[]
  tooMuchFood: string[]
  tooLittleFood: string[]
  noWater: (targets: Targets) => string[]
  tooLittleWater: (targets: Targets) => string[]
  noSleep: string[]
  tooLittleSleep: string[]
  poorSleep: string[]
}

const routine = 'Jadwalkan latihan di jam yang sama agar menjadi kebiasaan. Latihan 20 menit pun sudah berarti.'
const glass = 'Minum segelas air setelah bangun tidur dan sebelum setiap makan.'

const indonesian: Texts = {
  praise: ['Kerja bagus! Semua targetmu minggu ini berjalan baik. Pertahankan kebiasaan sehatmu.'],
  firstWorkout: (
    { workoutsPerWeek }
  ) => [`Mulai minggu ini dengan satu sesi latihan; targetmu ${workoutsPerWeek} kali seminggu.`, routine],
  moreWorkouts: (
    { workoutsPerWeek }
  ) => [`Tambah sesi latihanmu untuk mencapai target ${workoutsPerWeek} kali minggu ini.`, routine],
  noFood: [
    'Catat makananmu setiap hari agar asupan kalorimu terpantau.',
    'Mulai dengan mencatat sarapan; cukup satu menit.'
  ],
  tooMuchFood: [
    'Asupan kalorimu di atas target. Kurangi camilan manis dan minuman bergula.',
    'Perbanyak sayur dan protein agar kenyang lebih lama.'
  ],
  tooLittleFood: [
    'Asupan kalorimu di bawah target. Jangan lewatkan waktu makan.',
    'Tambahkan camilan bergizi seperti buah, kacang, atau yogurt.'
  ],
  noWater: ({ waterMl }) => [`Mulai catat air minummu; targetmu ${waterMl} ml sehari.`, glass],
  tooLittleWater: ({ waterMl }) => [`Minum lebih banyak air; targetmu ${waterMl} ml sehari.`, glass],
  noSleep: [
    'Catat waktu tidurmu agar pola istirahatmu terpantau.',
    'Usahakan tidur dan bangun di jam yang sama setiap hari.'
  ],
  tooLittleSleep: [
    'Tidurmu kurang dari target. Coba tidur 30 menit lebih awal malam ini.',
    'Jauhkan ponsel setidaknya 30 menit sebelum tidur.'
  ],
  poorSleep: [
    'Kualitas tidurmu bisa lebih baik. Pastikan kamar gelap, sejuk, dan tenang.',
    'Hindari kafein setelah sore hari.'
  ]
}

const sameTime = 'Train at the same time of day until it is a habit. Even 20 minutes count.'
const oneGlass = 'Drink a glass of water after waking up and before each meal.'

const english: Texts = {
  praise: ['Well done! You are on track with all your goals this week. Keep up your healthy habits.'],
  firstWorkout: (
    { workoutsPerWeek }
  ) => [`Start this week with one workout; your goal is ${workoutsPerWeek} a week.`, sameTime],
  moreWorkouts: ({ workoutsPerWeek }) => [`Add workouts to reach your goal of ${workoutsPerWeek} this week.`, sameTime],
  noFood: ['Log your meals every day to keep track of your calories.', 'Start with breakfast; it takes a minute.'],
  tooMuchFood: [
    'You are above your calorie goal. Cut down on sweet snacks and sugary drinks.',
    'Eat more vegetables and protein to stay full for longer.'
  ],
  tooLittleFood: [
    'You are below your calorie goal. Do not skip meals.',
    'Add nutritious snacks such as fruit, nuts or yogurt.'
  ],
  noWater: ({ waterMl }) => [`Start logging the water you drink; your goal is ${waterMl} ml a day.`, oneGlass],
  tooLittleWater: ({ waterMl }) => [`Drink more water; your goal is ${waterMl} ml a day.`, oneGlass],
  noSleep: ['Log your sleep to keep track of your rest.', 'Try to go to bed and get up at the same time every day.'],
  tooLittleSleep: [
    'You sleep less than your goal. Try to go to bed 30 minutes earlier tonight.',
    'Put your phone away at least 30 minutes before bed.'
  ],
  poorSleep: [
    'Your sleep could be better. Keep your bedroom dark, cool and quiet.',
    'Avoid caffeine after the afternoon.'
  ]
}

export const texts: Record<Language, Texts> = { id: indonesian, en: english }
