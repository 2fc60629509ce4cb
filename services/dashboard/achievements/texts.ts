import type { Language } from '@tandem/http-kit'
import type { Kind } from './rules.ts'

interface Text {
  title: string
  description: string
}

const indonesian: Record<Kind, Text> = {
  FIRST_WORKOUT: { title: 'Latihan pertama', description: 'Catat latihan pertamamu.' },
  TEN_WORKOUTS: { title: '10 latihan', description: 'Catat 10 latihan.' },
  FIFTY_WORKOUTS: { title: '50 latihan', description: 'Catat 50 latihan.' },
  HUNDRED_WORKOUTS: { title: '100 latihan', description: 'Catat 100 latihan.' },
  FIVE_HUNDRED_WORKOUTS: { title: '500 latihan', description: 'Catat 500 latihan.' },
  STREAK_7: { title: '7 hari berturut-turut', description: 'Catat aktivitas 7 hari berturut-turut.' },
  STREAK_30: { title: '30 hari berturut-turut', description: 'Catat aktivitas 30 hari berturut-turut.' },
  STREAK_100: { title: '100 hari berturut-turut', description: 'Catat aktivitas 100 hari berturut-turut.' },
  STREAK_365: { title: 'Setahun penuh', description: 'Catat aktivitas 365 hari berturut-turut.' },
  WEEK_STREAK_4: { title: '4 minggu berturut-turut', description: 'Berlatih setiap minggu selama 4 minggu.' },
  FIRST_PR: { title: 'Rekor pertama', description: 'Cetak rekor pribadi pertamamu.' },
  TEN_PRS: { title: '10 rekor', description: 'Cetak 10 rekor pribadi.' },
  LEVEL_5: { title: 'Level 5', description: 'Capai level 5.' },
  LEVEL_10: { title: 'Level 10', description: 'Capai level 10.' },
  LEVEL_25: { title: 'Level 25', description: 'Capai level 25.' },
  FIRST_PROGRAM: { title: 'Program selesai', description: 'Catat setiap hari latihan dari sebuah program.' },
  FIVE_ACTIVITIES: { title: 'Berlatih bersama', description: 'Ikuti 5 aktivitas bersama orang lain.' }
}

const english: Record<Kind, Text> = {
  FIRST_WORKOUT: { title: 'First workout', description: 'Log your first workout.' },
  TEN_WORKOUTS: { title: '10 workouts', description: 'Log 10 workouts.' },
  FIFTY_WORKOUTS: { title: '50 workouts', description: 'Log 50 workouts.' },
  HUNDRED_WORKOUTS: { title: '100 workouts', description: 'Log 100 workouts.' },
  FIVE_HUNDRED_WORKOUTS: { title: '500 workouts', description: 'Log 500 workouts.' },
  STREAK_7: { title: '7 days in a row', description: 'Log something 7 days in a row.' },
  STREAK_30: { title: '30 days in a row', description: 'Log something 30 days in a row.' },
  STREAK_100: { title: '100 days in a row', description: 'Log something 100 days in a row.' },
  STREAK_365: { title: 'A whole year', description: 'Log something 365 days in a row.' },
  WEEK_STREAK_4: { title: '4 weeks in a row', description: 'Work out every week for 4 weeks.' },
  FIRST_PR: { title: 'First record', description: 'Set your first personal record.' },
  TEN_PRS: { title: '10 records', description: 'Set 10 personal records.' },
  LEVEL_5: { title: 'Level 5', description: 'Reach level 5.' },
  LEVEL_10: { title: 'Level 10', description: 'Reach level 10.' },
  LEVEL_25: { title: 'Level 25', description: 'Reach level 25.' },
  FIRST_PROGRAM: { title: 'Program completed', description: 'Log every training day of a program.' },
  FIVE_ACTIVITIES: { title: 'Better together', description: 'Take part in 5 activities with others.' }
}

export const texts: Record<Language, Record<Kind, Text>> = { id: indonesian, en: english }
