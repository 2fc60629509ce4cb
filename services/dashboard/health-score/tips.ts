import { mean, sleepOf, weights, type Day, type Scores, type Targets } from './formulas.ts'

const WELL_DONE = 80

const praise = ['Kerja bagus! Semua targetmu minggu ini berjalan baik. Pertahankan kebiasaan sehatmu.']

interface Week { days: Day[], targets: Targets }

const tipsOf: Record<keyof Scores, (week: Week) => string[]> = {
  workout: ({ days, targets }) => [
    days.some((day) => day.workouts > 0)
      ? `Tambah sesi latihanmu untuk mencapai target ${targets.workoutsPerWeek} kali minggu ini.`
      : `Mulai minggu ini dengan satu sesi latihan; targetmu ${targets.workoutsPerWeek} kali seminggu.`,
    'Jadwalkan latihan di jam yang sama agar menjadi kebiasaan. Latihan 20 menit pun sudah berarti.'
  ],
  nutrition: ({ days, targets }) => {
    const fed = days.filter((day) => day.foodEntries > 0)
    if (fed.length === 0) return ['Catat makananmu setiap hari agar asupan kalorimu terpantau.', 'Mulai dengan mencatat sarapan; cukup satu menit.']
    return mean(fed.map((day) => day.calories)) > targets.dailyCalories
      ? ['Asupan kalorimu di atas target. Kurangi camilan manis dan minuman bergula.', 'Perbanyak sayur dan protein agar kenyang lebih lama.']
      : ['Asupan kalorimu di bawah target. Jangan lewatkan waktu makan.', 'Tambahkan camilan bergizi seperti buah, kacang, atau yogurt.']
  },
  water: ({ days, targets }) => [
    days.some((day) => day.waterMl > 0)
      ? `Minum lebih banyak air; targetmu ${targets.waterMl} ml sehari.`
      : `Mulai catat air minummu; targetmu ${targets.waterMl} ml sehari.`,
    'Minum segelas air setelah bangun tidur dan sebelum setiap makan.'
  ],
  sleep: ({ days, targets }) => {
    const { minutes, daysTracked } = sleepOf(days)
    if (daysTracked === 0) return ['Catat waktu tidurmu agar pola istirahatmu terpantau.', 'Usahakan tidur dan bangun di jam yang sama setiap hari.']
    return minutes < targets.sleepMinutes
      ? ['Tidurmu kurang dari target. Coba tidur 30 menit lebih awal malam ini.', 'Jauhkan ponsel setidaknya 30 menit sebelum tidur.']
      : ['Kualitas tidurmu bisa lebih baik. Pastikan kamar gelap, sejuk, dan tenang.', 'Hindari kafein setelah sore hari.']
  }
}

/** The metric with the lowest score; of several that of the greatest weight, in the order of the contract. */
export function weakestOf (scores: Scores): keyof Scores {
  const metrics = Object.keys(weights) as (keyof Scores)[]
  return metrics.reduce((weakest, metric) => {
    const difference = scores[metric] - scores[weakest] || weights[weakest] - weights[metric]
    return difference < 0 ? metric : weakest
  })
}

/** What to do about the weakest metric; praise when even that one is well. */
export function tipsFor (scores: Scores, week: Week): string[] {
  const weakest = weakestOf(scores)
  return scores[weakest] >= WELL_DONE ? praise : tipsOf[weakest](week)
}
