import { keys, useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { Button } from '../../components/controls.tsx'
import { useFormat } from '../../components/format.ts'
import { Figures, Screen, Section, Text } from '../../components/layout.tsx'
import { useRefresh } from '../../components/refresh.ts'
import { Loading } from '../../components/states.tsx'

const queryKey = [...keys.home, 'goals']

const names = [
  ['dailyCalories', 'kcal a day'],
  ['proteinTarget', 'g protein'],
  ['carbsTarget', 'g carbs'],
  ['fatTarget', 'g fat']
] as const

type Targets = Record<typeof names[number][0], number | null>

const facts: Record<string, string> = {
  gender: 'gender',
  birthDate: 'date of birth',
  height: 'height',
  weight: 'weight',
  fitnessGoal: 'goal',
  workoutFrequency: 'workouts a week'
}

/** The goals of a day, and those that the figures of the profile suggest. Nothing is set before the person agrees. */
export default function Goals () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const [{ data: { goals } }, { data }] = await Promise.all([
        tandem.getGoals({ signal }),
        tandem.suggestGoals({ signal })
      ])
      return { goals, ...data }
    }
  })
  if (!query.data) {
    return (
      <Screen>
        <Loading of={query} />
      </Screen>
    )
  }
  const { goals, suggestion, missing } = query.data
  const accept = async () => {
    if (!suggestion) return
    const { dailyCalories, proteinTarget, carbsTarget, fatTarget, goalType } = suggestion
    await tandem.updateGoals({ body: { dailyCalories, proteinTarget, carbsTarget, fatTarget, goalType } })
    await refresh(keys.home)
  }
  const isSet = goals && suggestion && names.every(([name]) => goals[name] === suggestion[name])
  return (
    <Screen>
      <Section title='Your goals'>
        {goals?.dailyCalories == null
          ? <Text tone='soft'>You have set none yet.</Text>
          : <TargetFigures targets={goals} />}
      </Section>
      {suggestion && (
        <Section title='Suggested for you'>
          <TargetFigures targets={suggestion} />
          <Text tone='soft' size={14}>{suggestion.formula}</Text>
          <Text tone='soft' size={14}>{suggestion.source}</Text>
          {isSet
            ? <Text tone='good'>These are your goals.</Text>
            : <Button title='Use these goals' kind='primary' onPress={accept} />}
        </Section>
      )}
      {missing.length > 0 && (
        <Text tone='soft'>
          {`For a suggestion, your profile lacks: ${missing.map((fact) => facts[fact] ?? fact).join(', ')}.`}
        </Text>
      )}
    </Screen>
  )
}

function TargetFigures ({ targets }: { targets: Targets }) {
  const format = useFormat()
  return (
    <Figures
      figures={names.flatMap(([name, unit]) => {
        const value = targets[name]
        return value === null ? [] : [{ value: format.number(value), unit }]
      })}
    />
  )
}
