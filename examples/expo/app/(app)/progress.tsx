import { keys, useTandem } from '@tandem/react'
import type { HealthScore, WeeklyOverview } from '@tandem/sdk'
import { useQuery } from '@tanstack/react-query'
import { View } from 'react-native'
import { countOf } from '../../components/format.ts'
import { Bar, Icon, Row, Screen, Section, Text } from '../../components/layout.tsx'
import { Loading } from '../../components/states.tsx'
import { useTheme } from '../../components/theme.ts'

/** The health score, and the days of this week. */
export default function Progress () {
  const tandem = useTandem()
  const query = useQuery({
    queryKey: [...keys.home, 'progress'],
    queryFn: async ({ signal }) => {
      const [score, week] = await Promise.all([
        tandem.getHealthScore({ signal }),
        tandem.getWeeklyOverview({ signal })
      ])
      return { score: score.data, week: week.data }
    }
  })
  return (
    <Screen>
      {query.data
        ? (
          <>
            <Score score={query.data.score} />
            <Week week={query.data.week} />
          </>
        )
        : <Loading of={query} />}
    </Screen>
  )
}

const trends = { up: '↑ better than last week', down: '↓ less than last week', neutral: 'as last week' }

function Score ({ score: { overallScore, trend, metrics, tips } }: { score: HealthScore }) {
  const { workout, nutrition, water, sleep } = metrics
  const parts = [
    { name: 'Move', score: workout.score, detail: `${workout.completed} of ${workout.target} workouts` },
    { name: 'Eat', score: nutrition.score, detail: `${countOf(nutrition.daysTracked, 'day')} logged` },
    { name: 'Drink', score: water.score, detail: `${water.todayProgress} % of today` },
    { name: 'Sleep', score: sleep.score, detail: `${countOf(sleep.daysTracked, 'night')} logged` }
  ]
  return (
    <Section title='Health score'>
      <Row>
        <Text size={44} bold>{overallScore}</Text>
        <Text tone='soft'>{trends[trend]}</Text>
      </Row>
      {parts.map(({ name, score, detail }) => (
        <View key={name} style={{ gap: 4 }}>
          <Row style={{ justifyContent: 'space-between' }}>
            <Text bold>{name}</Text>
            <Text tone='soft' size={14}>{detail}</Text>
          </Row>
          <Bar share={score / 100} />
        </View>
      ))}
      {tips.map((tip) => <Text key={tip} tone='soft' size={14}>{tip}</Text>)}
    </Section>
  )
}

const pillars = [['workout', 'barbell'], ['nutrition', 'restaurant'], ['water', 'water'], ['sleep', 'moon']] as const

function Week ({ week: { days, stats } }: { week: WeeklyOverview }) {
  const theme = useTheme()
  return (
    <Section title='The last seven days'>
      <Row style={{ gap: 4 }}>
        {days.map((day) => (
          <View
            key={day.date}
            style={{
              flex: 1,
              alignItems: 'center',
              gap: 4,
              paddingVertical: 8,
              borderRadius: 12,
              backgroundColor: day.isToday ? theme.field : undefined
            }}
          >
            <Text size={13} bold>{day.dayName}</Text>
            {pillars.map(([name, icon]) => (
              <View
                key={name}
                role='img'
                aria-label={day[name] ? name : `no ${name}`}
                style={{ opacity: day[name] ? 1 : 0.2 }}
              >
                <Icon name={icon} size={18} tone={day[name] ? 'accent' : 'soft'} />
              </View>
            ))}
          </View>
        ))}
      </Row>
      <Text tone='soft'>
        {`${countOf(stats.workoutCount, 'workout')} · ${stats.consistency} % of what you can log`}
      </Text>
    </Section>
  )
}
